import type { Config } from "../../../services/operation/config/mod.ts";
import { configSchema } from "../../../services/operation/config/schemas.ts";
import { LOG_LEVELS } from "../../../services/kernel/log.ts";
import { getLogLevel, setLogLevel } from "../../../services/operation/control/operations.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { Form, Select } from "../../parts/form.tsx";
import { Segments } from "../../parts/filters.tsx";
import { SettingsFrame } from "../../parts/settings_frame.tsx";
import type { Visit } from "../../visit.ts";

/** Keys whose values are secrets. */
const SECRET = /(?:^|[._])(?:password|password_hash|token|secret|secrets)$/;

/** A key of the configuration with its value as text. */
interface ShownSetting {
  readonly key: string;
  readonly value: string;
  readonly isDefault: boolean;
}

/** The configuration of the running program, without secrets. */
export const page = definePage({ opens: "admin", show, actions: { setLogLevel: set } });

async function show(visit: Visit): Promise<View> {
  const { level } = await visit.invokeOnServer(getLogLevel, {});
  const entries = entriesOf(visit.services.config);
  const onlyChanged = visit.query("show") === "changed";
  const shown = onlyChanged ? entries.filter(({ isDefault }) => !isDefault) : entries;
  const body = (
    <SettingsFrame part="configuration">
      <p class="soft">
        The file <code>config.yaml</code>{" "}
        and variables of the environment set it. Some keys change in the running program with{" "}
        <code>SIGHUP</code>, the others with a restart.
      </p>
      <LogLevelForm visit={visit} level={level} />
      <div class="list-tools">
        <Segments
          label="Keys"
          links={[
            {
              to: "/settings/configuration",
              words: "All",
              count: entries.length,
              isCurrent: !onlyChanged,
            },
            {
              to: "/settings/configuration?show=changed",
              words: "Changed",
              count: entries.filter(({ isDefault }) => !isDefault).length,
              isCurrent: onlyChanged,
            },
          ]}
        />
      </div>
      <div class="table-scroll wraps" tabindex={0} role="region" aria-label="Table of keys">
        <table class="stacks">
          <thead>
            <tr>
              <th>Key</th>
              <th>Value</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ key, value, isDefault }) => (
              <tr>
                <td class="mono">{key}</td>
                <td class={isDefault ? "mono soft" : "mono"}>
                  {value === "" ? "—" : value}{" "}
                  {!isDefault && <span class="badge accent">changed</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </SettingsFrame>
  );
  return { title: "Configuration", body };
}

/** The level of the log, which lasts until the next reload or restart. */
function LogLevelForm({ visit, level }: { readonly visit: Visit; readonly level: string }) {
  return (
    <Form visit={visit} action="setLogLevel">
      <Select
        visit={visit}
        name="level"
        label="Level of the log, until the next reload or restart"
        value={level}
        options={LOG_LEVELS.map((level) => [level, level] as const)}
      />
      <button type="submit">Set level</button>
    </Form>
  );
}

async function set(visit: Visit): Promise<Leads> {
  const { level } = await visit.invokeOnServer(setLogLevel, { level: visit.entered("level") });
  return { to: "/settings/configuration", notice: `The log has the level ${level} now.` };
}

function entriesOf(config: Config): readonly ShownSetting[] {
  const defaults = new Map(flat(configSchema.parse({})));
  return flat(config).map(([key, value]) => ({
    key,
    value: SECRET.test(key) && value !== "" ? "set, and not shown" : value,
    isDefault: defaults.get(key) === value,
  }));
}

/** Every value with its key; lists of texts as one text. */
function flat(value: unknown, key = ""): (readonly [key: string, value: string])[] {
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) {
    return [[key, value.join(", ")]];
  }
  if (typeof value !== "object" || value === null) {
    return [[key, value === null ? "" : String(value)]];
  }
  const entries = Object.entries(value);
  return entries.flatMap(([name, inner]) => flat(inner, key === "" ? name : `${key}.${name}`));
}
