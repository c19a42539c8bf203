import { chosenEvents, EventChoice } from "../../parts/choices.tsx";
import type {
  DeliveryView,
  IssuedWebhook,
  WebhookView,
} from "../../../services/work/webhooks/mod.ts";
import * as api from "../../../services/work/webhooks/operations.ts";
import { ConfirmForm } from "../../parts/confirm.tsx";
import { Copyable } from "../../parts/copy.tsx";
import { ButtonForm, Form, TextField } from "../../parts/form.tsx";
import { Empty } from "../../parts/lists.tsx";
import { Time } from "../../parts/time.tsx";
import type { OpenProject } from "../../project.ts";
import { type Visit, withQuery } from "../../visit.ts";
import { definePart, type Outcome } from "./part.ts";

/** Deliveries of a page. */
const DELIVERIES = 25;

/** Webhooks with their deliveries. */
export const webhooks = definePart({
  words: "Webhooks",
  isForServer: false,
  show,
  actions: {
    "add-webhook": add,
    "change-webhook": change,
    "rotate-webhook": rotate,
    "ping-webhook": async (visit, { slug }) => {
      await visit.invoke(slug, api.pingWebhook, { id: idOf(visit) });
      return "A test delivery is on its way.";
    },
    "remove-webhook": async (visit, { slug, base }) => {
      await visit.invoke(slug, api.deleteWebhook, { id: idOf(visit) });
      return { to: `${base}/settings/webhooks` };
    },
    redeliver: async (visit, { slug }) => {
      const delivery = visit.entered("delivery");
      await visit.invoke(slug, api.redeliverToWebhook, { id: idOf(visit), delivery });
      return "The delivery is sent again.";
    },
  },
});

/** The webhook that the address chooses. */
function idOf(visit: Visit): string {
  return visit.query("webhook") ?? "";
}

async function show(visit: Visit, project: OpenProject) {
  if (visit.query("webhook") !== undefined) return await One(visit, project);
  const list = await visit.invoke(project.slug, api.listWebhooks, {});
  return (
    <>
      <h2>Webhooks</h2>
      {list.length === 0
        ? <Empty>Nothing is told of this project's events.</Empty>
        : (
          <ul class="list" data-keys="list">
            {list.map((webhook) => (
              <li>
                <div class="row-title">
                  <a href={withQuery(visit.url.pathname, { webhook: webhook.id })}>{webhook.url}</a>
                  <State webhook={webhook} />
                </div>
                <div class="meta">
                  <span>
                    {webhook.types.length === 0 ? "all events" : webhook.types.join(", ")}
                  </span>
                  <span>
                    made <Time at={webhook.created_at} />
                  </span>
                </div>
              </li>
            ))}
          </ul>
        )}
      <h2>Add a webhook</h2>
      <Form visit={visit} action="add-webhook">
        <WebhookFields visit={visit} />
        <button class="primary" type="submit">Add</button>
      </Form>
    </>
  );
}

function State({ webhook: { active, failing_since } }: { readonly webhook: WebhookView }) {
  if (!active) return <span class="badge">off</span>;
  if (failing_since === null) return <span class="badge good">on</span>;
  return (
    <span class="badge bad">
      failing since <Time at={failing_since} />
    </span>
  );
}

function WebhookFields(
  { visit, webhook }: { readonly visit: Visit; readonly webhook?: WebhookView },
) {
  return (
    <>
      <TextField
        visit={visit}
        name="url"
        label="URL"
        type="url"
        required
        value={webhook?.url ?? ""}
      />
      <EventChoice visit={visit} types={webhook?.types ?? []} />
    </>
  );
}

async function One(visit: Visit, { slug, base }: OpenProject) {
  const [webhook, deliveries] = await Promise.all([
    visit.invoke(slug, api.getWebhook, { id: idOf(visit) }),
    visit.invoke(slug, api.listWebhookDeliveries, {
      id: idOf(visit),
      limit: DELIVERIES,
      before: visit.query("before"),
    }),
  ]);
  const last = deliveries.at(-1);
  return (
    <>
      <p>
        <a href={`${base}/settings/webhooks`}>All webhooks</a>
      </p>
      <h2>
        {webhook.url} <State webhook={webhook} />
      </h2>
      <Form visit={visit} action="change-webhook">
        <WebhookFields visit={visit} webhook={webhook} />
        <label class="check">
          <input type="checkbox" name="active" value="true" checked={webhook.active} /> Active
        </label>
        <button class="primary" type="submit">Save</button>
      </Form>
      <WebhookButtons visit={visit} />
      <h2>Deliveries</h2>
      {deliveries.length === 0
        ? <Empty>Nothing was sent yet.</Empty>
        : (
          <ul class="list" data-keys="list">
            {deliveries.map((delivery) => (
              <DeliveryRow key={delivery.id} visit={visit} delivery={delivery} />
            ))}
          </ul>
        )}
      {deliveries.length === DELIVERIES && last !== undefined && (
        <p>
          <a href={withQuery(visit.url.pathname, { webhook: webhook.id, before: last.id })}>
            Older deliveries
          </a>
        </p>
      )}
    </>
  );
}

function WebhookButtons({ visit }: { readonly visit: Visit }) {
  return (
    <div class="row">
      <ButtonForm visit={visit} action="ping-webhook" label="Send a test" />
      <ConfirmForm
        visit={visit}
        action="rotate-webhook"
        label="New secret …"
        button="Make a new secret"
      >
        <p>The old secret also signs for one more day.</p>
      </ConfirmForm>
      <ConfirmForm
        visit={visit}
        action="remove-webhook"
        label="Remove …"
        button="Remove the webhook"
      >
        <p>Its deliveries are removed too.</p>
      </ConfirmForm>
    </div>
  );
}

const LOOKS = { delivered: "good", failed: "bad", pending: "warn" } as const;

function DeliveryRow({ visit, delivery }: {
  readonly visit: Visit;
  readonly delivery: DeliveryView;
}) {
  const { id, type, status, attempts, response_status, error, milliseconds, created_at } = delivery;
  return (
    <li class="row spread">
      <span>
        <b>{type}</b> <span class={`badge ${LOOKS[status]}`}>{status}</span>
        <span class="meta">
          <Time at={created_at} />
          <span>{attempts} {attempts === 1 ? "attempt" : "attempts"}</span>
          {response_status !== null && <span>HTTP {response_status}</span>}
          {milliseconds !== null && <span>{milliseconds} ms</span>}
          {error !== null && <span>{error}</span>}
        </span>
      </span>
      <ButtonForm
        visit={visit}
        action="redeliver"
        values={{ delivery: id }}
        label={
          <>
            Send again<span class="hidden-text">: {type} {id}</span>
          </>
        }
      />
    </li>
  );
}

function requestOf(visit: Visit) {
  return { url: visit.entered("url").trim(), types: chosenEvents(visit) };
}

async function add(visit: Visit, { slug }: OpenProject): Promise<Outcome> {
  return secretOf(await visit.invoke(slug, api.createWebhook, requestOf(visit)));
}

async function change(visit: Visit, { slug }: OpenProject): Promise<Outcome> {
  const active = visit.form.has("active");
  await visit.invoke(slug, api.changeWebhook, { id: idOf(visit), ...requestOf(visit), active });
  return "The webhook is saved.";
}

async function rotate(visit: Visit, { slug }: OpenProject): Promise<Outcome> {
  return secretOf(await visit.invoke(slug, api.rotateWebhookSecret, { id: idOf(visit) }));
}

/** Shows the secret of a webhook, which no later page shows. */
function secretOf({ url, secret }: IssuedWebhook): Outcome {
  return {
    issued: (
      <div class="notice good" role="status">
        <p>The secret for {url} is shown only now:</p>
        <Copyable text={secret} label="the secret" />
      </div>
    ),
  };
}
