import type { SourceKind } from "../../services/chat/bots/mod.ts";
import {
  addHeraldSource,
  listHeraldSources,
  removeHeraldSource,
} from "../../services/chat/bots/operations.ts";
import type { Leads, View } from "../page.ts";
import type { Visit } from "../visit.ts";
import { Copyable } from "./copy.tsx";
import { ButtonForm, Form, Select, TextField } from "./form.tsx";
import { Empty } from "./lists.tsx";
import { SettingsFrame } from "./settings_frame.tsx";

const KINDS: readonly (readonly [SourceKind, string])[] = [
  ["github", "GitHub"],
  ["forgejo", "Forgejo or Gitea"],
  ["gitlab", "GitLab"],
  ["standard", "Standard Webhooks"],
];

/** The programs whose webhooks herald announces, with a form for another one. */
export async function HeraldSources({ visit }: { readonly visit: Visit }) {
  const sources = await visit.invokeOnServer(listHeraldSources, {});
  return (
    <section aria-labelledby="sources">
      <h2 id="sources">From other programs</h2>
      <p class="soft">
        The bot <a href="/settings/policies?bot=herald">herald</a>{" "}
        announces in channels what these programs report.
      </p>
      <div class="columns">
        <div>
          {sources.length === 0
            ? <Empty>No program sends webhooks to herald.</Empty>
            : (
              <ul class="list" data-keys="list">
                {sources.map(({ name, kind }) => (
                  <li>
                    <b>{name}</b> <span class="badge">{wordsOf(kind)}</span>
                    <div class="soft small">{addressOf(visit, name)}</div>
                    <ButtonForm
                      visit={visit}
                      action="removeSource"
                      values={{ source: name }}
                      label="Remove"
                    />
                  </li>
                ))}
              </ul>
            )}
        </div>
        <div>
          <h3>Add a program</h3>
          <Form visit={visit} action="addSource">
            <TextField
              visit={visit}
              name="source"
              label="Name"
              required
              pattern="[a-z0-9][a-z0-9\-]{0,63}"
              hint="Lower-case letters, digits and hyphens. The types of its events begin with it."
            />
            <Select visit={visit} name="kind" label="It signs like" options={KINDS} />
            <button type="submit">Add the program</button>
          </Form>
        </div>
      </div>
    </section>
  );
}

/** Adds a source, and shows its secret once. */
export async function addSource(visit: Visit): Promise<View> {
  const { name, secret } = await visit.invokeOnServer(addHeraldSource, {
    name: visit.entered("source").trim(),
    kind: visit.entered("kind"),
  }, { name: "source" });
  const body = (
    <SettingsFrame part="webhooks">
      <div class="notice">
        <p>
          <b>The secret is shown only here.</b> Enter both at {name}, the secret with its{" "}
          <code>whsec_</code>, and choose the content type <code>application/json</code>.
        </p>
      </div>
      <Copyable text={addressOf(visit, name)} label="the address" />
      <Copyable text={secret} label="the secret" />
      <a class="button primary" href="/settings/webhooks">Go to the webhooks</a>
    </SettingsFrame>
  );
  return { title: "The program", body, status: 201 };
}

/** Removes a source. */
export async function removeSource(visit: Visit): Promise<Leads> {
  const name = visit.entered("source");
  await visit.invokeOnServer(removeHeraldSource, { name });
  return { to: "/settings/webhooks", notice: `herald takes no more webhooks of ${name}.` };
}

function addressOf({ origin }: Visit, name: string): string {
  return `${origin}/webhooks/${name}`;
}

function wordsOf(kind: SourceKind): string {
  return KINDS.find(([one]) => one === kind)?.[1] ?? kind;
}
