import type { Child } from "hono/jsx";
import type { Backend, BackendStats } from "../../services/models/llm/mod.ts";
import type { Visit } from "../visit.ts";
import { Form } from "./form.tsx";

/** Models that the card lists. */
const SHOWN = 200;

/** A backend of language models, with what a form found out of it. */
export function BackendCard({ visit, backend, isDefault, stats, found, change }: {
  readonly visit: Visit;
  readonly backend: Backend;
  readonly isDefault: boolean;
  readonly stats: BackendStats | null;
  readonly found: {
    readonly models?: readonly string[];
    readonly answer?: { readonly prompt: string; readonly text: string };
  } | null;
  /** The forms that change and remove it. */
  readonly change: Child;
}) {
  const { name, provider, base_url, api_key_env, source, allow, block } = backend;
  const models = found?.models ?? backend.models;
  return (
    <section class="card" aria-label={name}>
      <div class="page-head">
        <h2>
          {name} {isDefault && <span class="badge accent">default</span>}{" "}
          <span class="badge">{source === "api" ? "added here" : "configuration"}</span>
        </h2>
        {change}
      </div>
      <dl class="facts">
        <dt>Provider</dt>
        <dd>
          {provider} {base_url !== "" && <span class="mono">{base_url}</span>}
        </dd>
        <dt>Key</dt>
        <dd>{api_key_env === "" ? "none named" : <code>{api_key_env}</code>}</dd>
        {allow.length > 0 && (
          <>
            <dt>Allowed</dt>
            <dd>{allow.join(", ")}</dd>
          </>
        )}
        {block.length > 0 && (
          <>
            <dt>Refused</dt>
            <dd>{block.join(", ")}</dd>
          </>
        )}
        <dt>Calls</dt>
        <dd>{stats === null ? "none since the start" : callsOf(stats)}</dd>
      </dl>
      <details open={found?.models !== undefined}>
        <summary>
          {models.length} {models.length === 1 ? "model" : "models"}
        </summary>
        <ul class="models">
          {models.slice(0, SHOWN).map((model) => <li class="mono">{model}</li>)}
        </ul>
        {models.length > SHOWN && <p class="soft">and {models.length - SHOWN} more</p>}
      </details>
      <Form visit={visit} action="models" class="inline" label={`Models of ${name}`}>
        <input type="hidden" name="backend" value={name} />
        <button type="submit">Ask the provider for its models</button>
      </Form>
      <TryForm visit={visit} name={name} models={models} answer={found?.answer ?? null} />
    </section>
  );
}

function TryForm({ visit, name, models, answer }: {
  readonly visit: Visit;
  readonly name: string;
  readonly models: readonly string[];
  readonly answer: { readonly prompt: string; readonly text: string } | null;
}) {
  const isSent = visit.entered("action") === "ask" && visit.entered("backend") === name;
  return (
    <details open={answer !== null || isSent}>
      <summary>Try it</summary>
      <Form visit={visit} action="ask" label={`Try ${name}`}>
        <input type="hidden" name="backend" value={name} />
        <div class="field">
          <label for={`${name}-model`}>Model</label>
          <input
            id={`${name}-model`}
            name="model"
            list={`${name}-models`}
            autocomplete="off"
            value={isSent ? visit.entered("model") : ""}
          />
          <datalist id={`${name}-models`}>
            {models.slice(0, SHOWN).map((model) => <option value={model} />)}
          </datalist>
        </div>
        <div class="field">
          <label for={`${name}-prompt`}>Prompt</label>
          <textarea id={`${name}-prompt`} name="prompt" rows={3} required>
            {answer?.prompt ?? (isSent ? visit.entered("prompt") : "Say hello in five words.")}
          </textarea>
        </div>
        <button type="submit" class="primary">Send</button>
      </Form>
      {answer !== null && (
        <div class="card answer" role="status" aria-label="The answer">
          <pre tabindex={0}><code>{answer.text}</code></pre>
        </div>
      )}
    </details>
  );
}

function callsOf({ calls: { completed, failed, cancelled } }: BackendStats): string {
  return `${completed} completed, ${failed} failed, ${cancelled} cancelled`;
}
