import { Invalid, NotFound } from "../../../services/kernel/errors.ts";
import {
  diffPatch,
  isObject,
  type JsonObject,
  purposeOf,
} from "../../../services/chat/policies/mod.ts";
import { listModelBackends } from "../../../services/models/llm/operations.ts";
import { changePolicies, getPolicies } from "../../../services/chat/policies/operations.ts";
import { policyFields, policyWarnings } from "../../../services/chat/policies/schemas.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { Form, TextArea } from "../../parts/form.tsx";
import { Empty } from "../../parts/lists.tsx";
import { PolicyFields, readFields } from "../../parts/policy_fields.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import { type Visit, withQuery } from "../../visit.ts";
import { parseJson } from "../../../services/kernel/validation/mod.ts";

/** The settings of every bot: a form where a schema describes them, else their JSON. */
export const page = definePage({
  opens: "admin",
  show,
  actions: { save, saveJson },
  json: () => "/v1/settings/policies",
});

async function show(visit: Visit): Promise<View> {
  const isOff = visit.services.policies === null;
  const document = isOff ? {} : await documentOf(visit);
  const backends = (await visit.invokeOnServer(listModelBackends, {})).map(({ name }) => name);
  const body = (
    <SettingsFrame part="policies">
      {isOff
        ? <Empty>The configuration turns bots and their policies off (policies.enabled).</Empty>
        : <Policies visit={visit} document={document} backends={backends} />}
    </SettingsFrame>
  );
  return { title: "Bots and policies", body };
}

function Policies({ visit, document, backends }: {
  readonly visit: Visit;
  readonly backends: readonly string[];
  readonly document: Readonly<Record<string, JsonObject>>;
}) {
  const names = Object.keys(document).sort();
  const bot = visit.query("bot") ?? firstOf(document) ?? "";
  const settings = Object.hasOwn(document, bot) ? document[bot] : undefined;
  return (
    <div class="policies">
      <form class="policy-choice row" action="/settings/policies">
        <label for="bot-choice">Bot</label>
        <select id="bot-choice" name="bot">
          {names.map((name) => (
            <option value={name} selected={name === bot}>
              {name}, {isOn(document[name]) ? "on" : "off"}
            </option>
          ))}
        </select>
        <button type="submit">Show</button>
      </form>
      <ul class="list" data-keys="list">
        {names.map((name) => (
          <li>
            <a
              href={withQuery("/settings/policies", { bot: name })}
              aria-current={name === bot ? "page" : undefined}
            >
              {name}
            </a>{" "}
            {isOn(document[name])
              ? <span class="badge good">on</span>
              : <span class="badge">off</span>}
            {purposeOf(name) !== null && <div class="soft small">{purposeOf(name)}</div>}
          </li>
        ))}
      </ul>
      {settings === undefined
        ? <Empty>There is no policy “{bot}”. Choose one from the list.</Empty>
        : <Policy visit={visit} bot={bot} settings={settings} backends={backends} />}
    </div>
  );
}

function isOn(settings: JsonObject | undefined): boolean {
  return settings?.["enabled"] === true;
}

/** The bot whose settings are shown first: one that is on, if there is one. */
function firstOf(document: Readonly<Record<string, JsonObject>>): string | undefined {
  const names = Object.keys(document).sort();
  return names.find((name) => document[name]?.["enabled"] === true) ?? names[0];
}

function Policy({ visit, bot, settings, backends }: {
  readonly visit: Visit;
  readonly backends: readonly string[];
  readonly bot: string;
  readonly settings: JsonObject;
}) {
  const fields = policyFields(bot);
  const warnings = policyWarnings({ [bot]: settings }, backends);
  return (
    <section aria-labelledby="bot">
      <h2 id="bot">{bot}</h2>
      <p>
        {purposeOf(bot) ?? "muster has no bot of this name: the settings are kept, and do nothing."}
      </p>
      {warnings.map((warning) => (
        <div class="notice">
          <p>{warning}.</p>
        </div>
      ))}
      {fields !== null && (
        <Form visit={visit} action="save" label={`Settings of ${bot}`}>
          <PolicyFields visit={visit} bot={bot} fields={fields} settings={settings} />
          <button type="submit" class="primary">Save</button>
        </Form>
      )}
      <details class="as-json" open={fields === null || visit.entered("action") === "saveJson"}>
        <summary>As JSON</summary>
        <Form visit={visit} action="saveJson" label={`${bot} as JSON`}>
          <TextArea
            visit={visit}
            name="json"
            label="Settings"
            rows={12}
            value={JSON.stringify(settings, null, 2)}
            hint="A field that is left out gets its default."
          />
          <button type="submit">Save the JSON</button>
        </Form>
      </details>
    </section>
  );
}

/** Saves the fields of the form; others stay as they are. */
async function save(visit: Visit): Promise<Leads> {
  const { bot, settings } = await chosen(visit);
  const fields = policyFields(bot);
  if (fields === null) throw new NotFound(`No schema describes the bot "${bot}": edit its JSON`);
  const next = Object.assign({}, settings, readFields(visit, bot, fields));
  return await change(visit, { bot, settings }, next);
}

/** Saves the whole settings of a bot. */
async function saveJson(visit: Visit): Promise<Leads> {
  const now = await chosen(visit);
  let next: unknown;
  try {
    next = parseJson(visit.entered("json"));
  } catch (error) {
    throw new Invalid(`This is not JSON: ${(error as Error).message.replace(/\.$/, "")}`);
  }
  if (!isObject(next as JsonObject)) throw new Invalid("The settings must be a JSON object");
  return await change(visit, now, next as JsonObject);
}

async function change(
  visit: Visit,
  { bot, settings }: Chosen,
  next: JsonObject,
): Promise<Leads> {
  await visit.invokeOnServer(changePolicies, { [bot]: diffPatch(settings, withoutUnset(next)) });
  return { to: withQuery("/settings/policies", { bot }), notice: `The policy of ${bot} is saved.` };
}

/** Settings without fields that are null, which then get their defaults. */
function withoutUnset(settings: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}

/** A bot and its settings as they are now. */
interface Chosen {
  readonly bot: string;
  readonly settings: JsonObject;
}

async function documentOf(visit: Visit) {
  return await visit.invokeOnServer(getPolicies, {}) as Readonly<Record<string, JsonObject>>;
}

/** @throws NotFound */
async function chosen(visit: Visit): Promise<Chosen> {
  const document = await documentOf(visit);
  const bot = visit.query("bot") ?? Object.keys(document).sort()[0] ?? "";
  const settings = Object.hasOwn(document, bot) ? document[bot] : undefined;
  if (settings === undefined) throw new NotFound(`There is no policy "${bot}"`);
  return { bot, settings };
}
