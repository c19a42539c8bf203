/** Hooks in a client's settings: which commands it runs at which events. */
import { isObject, parseJson, setJson, Unreadable, valueAt } from "./config_text.ts";

/** What to register. */
export interface HookRegistration {
  readonly events: readonly string[];
  /** The whole command line. */
  readonly command: string;
  readonly timeout: number;
  /** More fields of the hook. */
  readonly also?: Readonly<Record<string, unknown>> | undefined;
  /** Whether a hook stands in the list of its event itself, and not in a group. */
  readonly isFlat?: boolean;
  /** The words by which an older registration is recognised: `hook claude --url`. */
  readonly mark: string;
}

/** Registers a command for each event, in the place of an older registration. */
export function addHooks(
  { events, command, timeout, also, mark, isFlat }: HookRegistration,
): (text: string) => string {
  return (text: string): string => {
    const hook = { type: "command", command, timeout, ...also };
    return events.reduce((edited, event) => {
      const groups = groupsOf(edited, event);
      const found = findHook(groups, mark);
      if (found !== null) {
        const path = ["hooks", event, ...found.path];
        return Object.entries({ command, timeout, ...also }).reduce(
          (changed, [name, value]) => setJson(changed, [...path, name], value),
          edited,
        );
      }
      const group = isFlat === true ? hook : { hooks: [hook] };
      return groups.length === 0
        ? setJson(edited, ["hooks", event], [group])
        : setJson(edited, ["hooks", event, -1], group);
    }, text);
  };
}

/** Removes muster's hooks, and the groups and lists that they leave empty. */
export function removeHooks(mark: string) {
  return (text: string): string => {
    const hooks = valueAt(parseJson(text), ["hooks"]);
    if (!isObject(hooks)) return text;
    const edited = Object.keys(hooks).reduce((all, event) => removeFrom(all, event, mark), text);
    const rest = valueAt(parseJson(edited), ["hooks"]);
    const isEmptied = edited !== text && isObject(rest) && Object.keys(rest).length === 0;
    return isEmptied ? setJson(edited, ["hooks"], undefined) : edited;
  };
}

function removeFrom(text: string, event: string, mark: string): string {
  let edited = text;
  for (;;) {
    const groups = groupsOf(edited, event);
    const found = findHook(groups, mark);
    if (found === null) return edited;
    const [group] = found.path;
    const path = groups.length === 1 ? ["hooks", event] : ["hooks", event, group];
    edited = found.isOnly
      ? setJson(edited, path, undefined)
      : setJson(edited, ["hooks", event, ...found.path], undefined);
  }
}

function groupsOf(text: string, event: string): readonly unknown[] {
  const groups = valueAt(parseJson(text), ["hooks", event]) ?? [];
  if (Array.isArray(groups)) return groups;
  throw new Unreadable(`the type of "hooks.${event}" is unexpected`);
}

/** Where muster's hook is in the list of an event, and whether its group has no other. */
function findHook(
  groups: readonly unknown[],
  mark: string,
): { readonly path: readonly [number, ...(string | number)[]]; readonly isOnly: boolean } | null {
  const isOwn = (hook: unknown) => {
    const command = valueAt(hook, ["command"]);
    return typeof command === "string" && command.includes(` ${mark} `);
  };
  for (const [group, value] of groups.entries()) {
    if (isOwn(value)) return { path: [group], isOnly: true };
    const hooks = valueAt(value, ["hooks"]);
    if (!Array.isArray(hooks)) continue;
    const hook = hooks.findIndex(isOwn);
    if (hook >= 0) return { path: [group, "hooks", hook], isOnly: hooks.length === 1 };
  }
  return null;
}
