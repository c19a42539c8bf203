import type { Backend, KnownProvider } from "../../../services/models/llm/mod.ts";
import * as api from "../../../services/models/llm/operations.ts";
import { completionRequestSchema } from "../../../services/models/llm/schemas.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { ConfirmForm } from "../../parts/confirm.tsx";
import { Field, Form, TextField, wordsOf } from "../../parts/form.tsx";
import { Empty } from "../../parts/lists.tsx";
import { BackendCard } from "../../parts/llm_backend.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import type { Visit } from "../../visit.ts";

/** Backends of language models. */
export const page = definePage({
  opens: "admin",
  show: (visit) => show(visit),
  actions: { create, change, remove, models, ask },
  newWork: ["ask"],
  json: () => "/v1/llm/backends",
});

/** What a form found out, which the page shows beside the backend. */
export interface Found {
  readonly backend: string;
  readonly models?: readonly string[];
  readonly answer?: { readonly prompt: string; readonly text: string };
}

async function show(visit: Visit, found: Found | null = null): Promise<View> {
  const [list, discovered, known] = await Promise.all([
    visit.invokeOnServer(api.listModelBackends, {}),
    visit.invokeOnServer(api.discoverModels, {}),
    visit.invokeOnServer(api.listModelProviders, {}),
  ]);
  const stats = new Map(visit.services.llm.gateway.stats().map((one) => [one.backend, one]));
  const unused = discovered.filter(({ configured }) => !configured);
  const body = (
    <SettingsFrame part="llm">
      <div class="columns">
        <div>
          {list.length === 0 && (
            <Empty>
              There is no backend yet. Add one, and name the variable of the environment that holds
              its key.
            </Empty>
          )}
          {list.map((backend, index) => (
            <BackendCard
              key={backend.name}
              visit={visit}
              backend={backend}
              isDefault={index === 0}
              stats={stats.get(backend.name) ?? null}
              found={found?.backend === backend.name ? found : null}
              change={<ChangeForm visit={visit} backend={backend} />}
            />
          ))}
        </div>
        <div>
          {unused.length > 0 && (
            <section>
              <h2>Keys without a backend</h2>
              <ul>
                {unused.map(({ provider, api_key_env }) => (
                  <li>
                    {provider}: <code>{api_key_env}</code> is set
                  </li>
                ))}
              </ul>
            </section>
          )}
          <section>
            <h2>Add a backend</h2>
            <Form visit={visit} action="create">
              <TextField
                visit={visit}
                name="name"
                label="Name"
                required
                hint="Small letters, digits and hyphens"
              />
              <BackendFields visit={visit} known={known} />
              <button type="submit" class="primary">Add</button>
            </Form>
          </section>
        </div>
      </div>
    </SettingsFrame>
  );
  return { title: "LLM backends", body };
}

function BackendFields({ visit, known }: {
  readonly visit: Visit;
  readonly known: readonly KnownProvider[];
}) {
  return (
    <>
      <Field
        id="provider"
        label="Provider"
        hint="A known one, or any name with a URL of an API in OpenAI’s format"
      >
        <input
          id="provider"
          name="provider"
          list="providers"
          required
          autocomplete="off"
          value={visit.entered("provider")}
          aria-describedby="provider-hint"
        />
        <datalist id="providers">
          {known.map(({ name }) => <option value={name} />)}
        </datalist>
      </Field>
      <TextField
        visit={visit}
        name="base_url"
        label="URL of the API"
        hint="Empty: the provider’s own"
      />
      <TextField
        visit={visit}
        name="api_key_env"
        label="Variable with the key"
        hint="The name of an environment variable of the server, never the key itself"
      />
      <TextField
        visit={visit}
        name="allow"
        label="Allowed models"
        hint="Patterns such as gpt-*, separated by commas; empty: all"
      />
      <TextField
        visit={visit}
        name="block"
        label="Refused models"
        hint="Patterns, stronger than the allowed ones"
      />
    </>
  );
}

function ChangeForm({ visit, backend }: { readonly visit: Visit; readonly backend: Backend }) {
  const { name, base_url, api_key_env, allow, block, provider, source } = backend;
  if (source === "configuration") {
    return <p class="soft small">The configuration file has it, and changes it.</p>;
  }
  const field = (key: string, label: string, value: string) => (
    <Field id={`${name}-${key}`} label={label}>
      <input id={`${name}-${key}`} name={key} value={value} autocomplete="off" />
    </Field>
  );
  return (
    <div class="row">
      <details class="confirm" data-dialog>
        <summary>Change …</summary>
        <Form visit={visit} action="change">
          <input type="hidden" name="backend" value={name} />
          {field("provider", "Provider", provider)}
          {field("base_url", "URL of the API", base_url)}
          {field("api_key_env", "Variable with the key", api_key_env)}
          {field("allow", "Allowed models", allow.join(" "))}
          {field("block", "Refused models", block.join(" "))}
          <div class="row">
            <button type="submit" class="primary">Save</button>
          </div>
        </Form>
      </details>
      <ConfirmForm
        visit={visit}
        action="remove"
        values={{ backend: name }}
        label="Remove …"
        button={`Remove ${name}`}
      >
        <p>Calls that name it are refused from then on.</p>
      </ConfirmForm>
    </div>
  );
}

function fieldsOf(visit: Visit) {
  return {
    provider: visit.entered("provider").trim(),
    base_url: visit.entered("base_url").trim(),
    api_key_env: visit.entered("api_key_env").trim(),
    allow: wordsOf(visit.entered("allow")),
    block: wordsOf(visit.entered("block")),
  };
}

async function create(visit: Visit): Promise<Leads> {
  const name = visit.entered("name").trim();
  await visit.invokeOnServer(api.createModelBackend, { name, ...fieldsOf(visit) });
  return { to: "/settings/llm", notice: `The backend ${name} is there: try it.` };
}

async function change(visit: Visit): Promise<Leads> {
  const name = visit.entered("backend");
  await visit.invokeOnServer(api.changeModelBackend, { name, change: fieldsOf(visit) });
  return { to: "/settings/llm", notice: `${name} is changed.` };
}

async function remove(visit: Visit): Promise<Leads> {
  const name = visit.entered("backend");
  await visit.invokeOnServer(api.deleteModelBackend, { name });
  return { to: "/settings/llm", notice: `${name} is removed.` };
}

/** Queries the provider for its models. */
async function models(visit: Visit): Promise<View> {
  const backend = visit.entered("backend");
  const found = await visit.invokeOnServer(api.listBackendModels, { name: backend });
  return await show(visit, { backend, models: found });
}

/** Sends a prompt to a model. */
async function ask(visit: Visit): Promise<View> {
  const backend = visit.entered("backend");
  const prompt = visit.entered("prompt");
  const model = visit.entered("model").trim();
  const request = visit.parse(completionRequestSchema, {
    backend,
    messages: [{ role: "user", content: prompt }],
    ...(model === "" ? {} : { model }),
  });
  const { signal } = visit.context.req.raw;
  const completion = await visit.services.llm.gateway.complete(request, visit.caller, signal);
  const text = completion.kind === "whole" ? textOf(JSON.parse(completion.text)) : "";
  return await show(visit, { backend, answer: { prompt, text } });
}

/** The text of a `chat.completion`. */
function textOf(
  { choices = [] }: { readonly choices?: readonly { message?: { content?: unknown } }[] },
): string {
  const content = choices[0]?.message?.content;
  return typeof content === "string" ? content : "The model answered without a text.";
}
