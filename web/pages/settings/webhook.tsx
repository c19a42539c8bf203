import type { DeliveryView, WebhookView } from "../../../services/work/webhooks/mod.ts";
import * as api from "../../../services/work/webhooks/server_operations.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { ConfirmForm } from "../../parts/confirm.tsx";
import { ButtonForm, Form } from "../../parts/form.tsx";
import { Empty } from "../../parts/lists.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import { Time } from "../../parts/time.tsx";
import { type Visit, withQuery } from "../../visit.ts";
import { fieldsOf, IssuedSecret, WebhookFields, WebhookState } from "./webhooks.tsx";

/** Deliveries on one page. */
const PER_PAGE = 50;

/** A webhook of the server: its settings, and what it sent. */
export const page = definePage({
  opens: "admin",
  show,
  actions: { change, turn, rotate, remove, ping, redeliver },
  json: (visit) => `/v1/webhooks/${encodeURIComponent(visit.param("id"))}`,
});

async function show(visit: Visit): Promise<View> {
  const id = visit.param("id");
  const before = visit.query("before");
  const [webhook, deliveries] = await Promise.all([
    visit.invokeOnServer(api.getServerWebhook, { id }),
    visit.invokeOnServer(api.listServerWebhookDeliveries, { id, limit: PER_PAGE + 1, before }),
  ]);
  const shown = deliveries.slice(0, PER_PAGE);
  const last = deliveries.length > PER_PAGE ? shown.at(-1)?.id : undefined;
  const asked = visit.query("delivery");
  const chosen = asked === undefined
    ? null
    : await visit.invokeOnServer(api.getServerWebhookDelivery, { id, delivery: asked });
  const body = (
    <SettingsFrame part="webhooks">
      <h2>
        {webhook.url} <WebhookState webhook={webhook} />
      </h2>
      <div class="columns">
        <div>
          {chosen !== null && <Chosen delivery={chosen} />}
          <h3>Deliveries</h3>
          <Deliveries visit={visit} deliveries={shown} />
          {last !== undefined && (
            <nav class="pager" aria-label="Pages">
              <span />
              <a href={withQuery(visit.url.pathname, { before: last })} rel="next">Older</a>
            </nav>
          )}
        </div>
        <Controls visit={visit} webhook={webhook} />
      </div>
    </SettingsFrame>
  );
  return { title: webhook.url, body };
}

function Controls({ visit, webhook }: { readonly visit: Visit; readonly webhook: WebhookView }) {
  return (
    <div class="controls">
      <div class="row">
        <ButtonForm visit={visit} action="ping" label="Send a test" />
        <ButtonForm
          visit={visit}
          action="turn"
          values={{ active: webhook.active ? "no" : "yes" }}
          label={webhook.active ? "Turn it off" : "Turn it on"}
        />
      </div>
      <Form visit={visit} action="change">
        <WebhookFields visit={visit} url={webhook.url} types={webhook.types} />
        <button type="submit">Save</button>
      </Form>
      <ConfirmForm visit={visit} action="rotate" label="New secret …" button="Make a new secret">
        <p>The old one also signs for a day.</p>
      </ConfirmForm>
      <ConfirmForm visit={visit} action="remove" label="Remove …" button="Remove the webhook">
        <p>Its deliveries are removed too.</p>
      </ConfirmForm>
    </div>
  );
}

/** A row says why its delivery failed, unless the row above it says the same. */
function Deliveries({ visit, deliveries }: {
  readonly visit: Visit;
  readonly deliveries: readonly DeliveryView[];
}) {
  if (deliveries.length === 0) return <Empty>It has sent nothing yet. Send a test.</Empty>;
  return (
    <ul class="list" data-keys="list">
      {deliveries.map((delivery, index) => (
        <li class="token">
          <div>
            <a href={withQuery(visit.url.pathname, { delivery: delivery.id })}>{delivery.type}</a>
            {" "}
            <span class={`badge ${LOOKS[delivery.status]}`}>{delivery.status}</span>
            <div class="soft small">
              <Time at={delivery.created_at} />
              {delivery.response_status !== null && ` · status ${delivery.response_status}`}
              {delivery.milliseconds !== null && ` · ${delivery.milliseconds} ms`}
              {` · ${delivery.attempts} ${delivery.attempts === 1 ? "attempt" : "attempts"}`}
              {delivery.error !== null && delivery.error !== deliveries[index - 1]?.error &&
                ` · ${delivery.error}`}
            </div>
          </div>
          <ButtonForm
            visit={visit}
            action="redeliver"
            values={{ delivery: delivery.id }}
            label="Send again"
          />
        </li>
      ))}
    </ul>
  );
}

const LOOKS = { pending: "accent", delivered: "good", failed: "bad" } as const;

function Chosen({ delivery }: { readonly delivery: DeliveryView & { readonly body: string } }) {
  return (
    <section class="card" aria-labelledby="delivery">
      <h3 id="delivery">
        {delivery.type} <span class="mono">{delivery.id}</span>
      </h3>
      {delivery.error !== null && <p class="soft small">{delivery.error}</p>}
      <pre tabindex={0}><code>{indented(delivery.body)}</code></pre>
    </section>
  );
}

function indented(json: string): string {
  return JSON.stringify(JSON.parse(json), null, 2);
}

function here(visit: Visit): string {
  return `/settings/webhooks/${encodeURIComponent(visit.param("id"))}`;
}

async function change(visit: Visit): Promise<Leads> {
  const id = visit.param("id");
  await visit.invokeOnServer(api.changeServerWebhook, { id, ...fieldsOf(visit) });
  return { to: here(visit), notice: "Saved." };
}

async function turn(visit: Visit): Promise<Leads> {
  const active = visit.entered("active") === "yes";
  await visit.invokeOnServer(api.changeServerWebhook, { id: visit.param("id"), active });
  return { to: here(visit), notice: active ? "It sends again." : "It sends nothing now." };
}

/** Gives the webhook a new secret, which is shown once. */
async function rotate(visit: Visit): Promise<View> {
  const id = visit.param("id");
  const issued = await visit.invokeOnServer(api.rotateServerWebhookSecret, { id });
  return { title: "The new secret", body: <IssuedSecret issued={issued} /> };
}

async function remove(visit: Visit): Promise<Leads> {
  await visit.invokeOnServer(api.deleteServerWebhook, { id: visit.param("id") });
  return { to: "/settings/webhooks", notice: "The webhook is removed." };
}

async function ping(visit: Visit): Promise<Leads> {
  await visit.invokeOnServer(api.pingServerWebhook, { id: visit.param("id") });
  return { to: here(visit), notice: "A test is on its way." };
}

async function redeliver(visit: Visit): Promise<Leads> {
  const [id, delivery] = [visit.param("id"), visit.entered("delivery")];
  await visit.invokeOnServer(api.redeliverToServerWebhook, { id, delivery });
  return { to: here(visit), notice: "It is on its way again." };
}
