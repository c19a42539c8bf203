import type { IssuedWebhook, WebhookView } from "../../../services/work/webhooks/mod.ts";
import {
  createServerWebhook,
  listServerWebhooks,
} from "../../../services/work/webhooks/server_operations.ts";
import { chosenEvents, EventChoice } from "../../parts/choices.tsx";
import { definePage, type View } from "../../page.ts";
import { Copyable } from "../../parts/copy.tsx";
import { Form, TextField } from "../../parts/form.tsx";
import { addSource, HeraldSources, removeSource } from "../../parts/herald_sources.tsx";
import { Empty } from "../../parts/lists.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import { Time } from "../../parts/time.tsx";
import type { Visit } from "../../visit.ts";

/** Webhooks of the whole server, which hear of the events of all projects. */
export const page = definePage({
  opens: "admin",
  show,
  actions: { create, addSource, removeSource },
  json: () => "/v1/webhooks",
});

async function show(visit: Visit): Promise<View> {
  const webhooks = await visit.invokeOnServer(listServerWebhooks, {});
  const body = (
    <SettingsFrame part="webhooks">
      <div class="columns">
        <div>
          {webhooks.length === 0
            ? (
              <Empty>
                No webhook gets the events of all projects. Those of one project are in its
                settings.
              </Empty>
            )
            : (
              <ul class="list" data-keys="list">
                {webhooks.map((webhook) => (
                  <li>
                    <a href={`/settings/webhooks/${webhook.id}`}>{webhook.url}</a>{" "}
                    <WebhookState webhook={webhook} />
                    <div class="soft small">
                      {webhook.types.length === 0 ? "all events" : webhook.types.join(", ")}
                    </div>
                  </li>
                ))}
              </ul>
            )}
        </div>
        <section>
          <h2>Make a webhook</h2>
          <Form visit={visit} action="create">
            <WebhookFields visit={visit} url="" types={[]} />
            <button type="submit" class="primary">Make the webhook</button>
          </Form>
        </section>
      </div>
      {visit.services.herald !== null && <HeraldSources visit={visit} />}
    </SettingsFrame>
  );
  return { title: "Webhooks", body };
}

/** The fields of a webhook. */
export function WebhookFields({ visit, url, types }: {
  readonly visit: Visit;
  readonly url: string;
  readonly types: readonly string[];
}) {
  return (
    <>
      <TextField visit={visit} name="url" label="URL" type="url" required value={url} />
      <EventChoice visit={visit} types={types} />
    </>
  );
}

/** Whether a webhook sends, and whether it arrives. */
export function WebhookState({ webhook: { active, failing_since: since } }: {
  readonly webhook: WebhookView;
}) {
  if (!active) return <span class="badge">off</span>;
  if (since === null) return <span class="badge good">active</span>;
  return (
    <span class="badge bad">
      failing since <Time at={since} />
    </span>
  );
}

async function create(visit: Visit): Promise<View> {
  const issued = await visit.invokeOnServer(createServerWebhook, { body: fieldsOf(visit) });
  return { title: "The webhook", body: <IssuedSecret issued={issued} />, status: 201 };
}

/** What the form of a webhook says. */
export function fieldsOf(visit: Visit) {
  return { url: visit.entered("url").trim(), types: chosenEvents(visit) };
}

/** The secret of a webhook, which is shown once. */
export function IssuedSecret({ issued }: { readonly issued: IssuedWebhook }) {
  return (
    <SettingsFrame part="webhooks">
      <div class="notice">
        <p>
          <b>The secret is shown only here.</b>{" "}
          The receiver checks signatures with it, according to Standard Webhooks.
        </p>
      </div>
      <Copyable text={issued.secret} label="the secret" />
      <a class="button primary" href={`/settings/webhooks/${issued.id}`}>Go to the webhook</a>
    </SettingsFrame>
  );
}
