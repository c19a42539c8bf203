import type { z } from "zod";
import {
  listCheckSecrets,
  removeCheckSecret,
  setCheckSecret,
} from "../../../services/work/runs/operations.ts";
import type { secretSchema } from "../../../services/work/runs/schemas.ts";
import { ConfirmForm } from "../../parts/confirm.tsx";
import { Field, Form, TextField } from "../../parts/form.tsx";
import { Empty } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import type { OpenProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";
import { definePart } from "./part.ts";

type Secret = z.output<typeof secretSchema>;

/** The secrets that checks get. */
export const checks = definePart({
  words: "Checks",
  isForServer: false,
  show,
  actions: {
    "set-secret": async (visit, { slug }) => {
      const name = visit.entered("name").trim();
      await visit.invoke(slug, setCheckSecret, {
        name,
        check: visit.entered("check").trim() || undefined,
        value: visit.entered("content").replaceAll("\r\n", "\n"),
      });
      return `The secret ${name} is set.`;
    },
    "remove-secret": async (visit, { slug }) => {
      const name = visit.entered("name");
      const check = visit.entered("check") || undefined;
      await visit.invoke(slug, removeCheckSecret, { name, check });
      return `The secret ${name} is removed.`;
    },
  },
});

async function show(visit: Visit, { slug, base, mayAdmin }: OpenProject) {
  const secrets = await visit.invoke(slug, listCheckSecrets, {});
  return (
    <>
      <h2>Secrets of checks</h2>
      <p class="soft">
        A check gets a secret as a variable if it names it in{" "}
        <code>secrets</code>, and only for what is on a protected branch: never for a review or a
        landing. Logs hide its value, and nobody can read it here.{" "}
        <a href={`${base}/runs`}>The checks</a>
      </p>
      {secrets.length === 0
        ? <Empty>There is no secret.</Empty>
        : (
          <ul class="list" data-keys="list">
            {secrets.map((secret) => <Listed {...{ visit, secret, mayAdmin }} />)}
          </ul>
        )}
      {mayAdmin && <SecretForm visit={visit} />}
    </>
  );
}

function Listed({ visit, secret: { name, check, set_by, set_at }, mayAdmin }: {
  readonly visit: Visit;
  readonly secret: Secret;
  readonly mayAdmin: boolean;
}) {
  return (
    <li class="row spread">
      <span>
        <code>{name}</code> {check !== null && (
          <>
            of <b>{check}</b> alone
          </>
        )}
        <span class="meta">
          <span>
            set by {set_by} <Time at={set_at} />
          </span>
        </span>
      </span>
      {mayAdmin && (
        <ConfirmForm
          visit={visit}
          action="remove-secret"
          values={check === null ? { name } : { name, check }}
          label="Remove …"
          button={`Remove ${name}`}
        >
          <p>Checks that name it run without it from then on.</p>
        </ConfirmForm>
      )}
    </li>
  );
}

function SecretForm({ visit }: { readonly visit: Visit }) {
  return (
    <>
      <h2>Set a secret</h2>
      <Form visit={visit} action="set-secret">
        <TextField
          visit={visit}
          name="name"
          label="Name"
          required
          maxlength={100}
          pattern="[A-Za-z_][A-Za-z0-9_]*"
          hint="Letters, digits and _. A secret that has this name is replaced."
        />
        <TextField
          visit={visit}
          name="check"
          label="Check (optional)"
          maxlength={200}
          hint="The only one that gets it. Empty: each that names it."
        />
        <Field id="content" label="Value" hint="If the form is refused, enter it again.">
          <textarea id="content" name="content" rows={3} required aria-describedby="content-hint" />
        </Field>
        <button class="primary" type="submit">Set it</button>
      </Form>
    </>
  );
}
