import type { ProjectApi } from "../routes/projects/project_api.ts";
import type { Principal } from "../services/people/identity/mod.ts";
import { methodOf } from "../services/people/identity/server_operation.ts";
import { ownName } from "./names.ts";
import { isOpenTo, type Tool } from "./tool.ts";

/** Most remembered lists: callers differ by their kind and rights, of which there are few. */
const MAX_LISTS = 100;

/** The tools of a server. Each caller sees the tools that it may call. */
export class Toolbox {
  readonly #tools: readonly Tool[];
  readonly #api: ProjectApi | undefined;
  readonly #named = new Map<string, readonly Tool[]>();
  readonly #lists = new Map<string, string>();

  /**
   * @param tools in the order of the list; several may share a name if no caller may call two of
   * them
   * @param api the projects, if there may be some
   */
  constructor(tools: readonly Tool[], api: ProjectApi | undefined) {
    this.#tools = tools;
    this.#api = api;
    for (const tool of tools) {
      this.#named.set(tool.name, [...this.#named.get(tool.name) ?? [], tool]);
    }
  }

  /** The tools that a principal may call. */
  openTo(principal: Principal): readonly Tool[] {
    return this.#tools.filter(this.#openedTo(principal));
  }

  /** Stands for the set of tools that a principal may call: the same set, the same text. */
  mark(principal: Principal): string {
    const isOpen = this.#openedTo(principal);
    return this.#tools.map((tool) => isOpen(tool) ? "1" : "0").join("");
  }

  /** Tells whether a principal may call a tool. What several tools need is found out once. */
  #openedTo(principal: Principal): (tool: Tool) => boolean {
    const known = new Map<string, boolean>();
    return ({ head, sees }) => {
      const right = "needs" in head ? `project ${head.needs}` : `${head.on} ${methodOf(head)}`;
      const may = known.get(right) ?? isOpenTo(head, principal, this.#api);
      known.set(right, may);
      return sees(principal, may);
    };
  }

  /** Whether there is a tool of this name that a principal may call. */
  has(name: string, principal: Principal): boolean {
    return (this.#named.get(ownName(name)) ?? []).some(({ head, sees }) =>
      sees(principal, isOpenTo(head, principal, this.#api))
    );
  }

  /** The tool of this name, or null. The tool itself refuses a principal that may not call it. */
  find(name: string, principal: Principal): Tool | null {
    const named = this.#named.get(ownName(name)) ?? [];
    if (named.length <= 1) return named[0] ?? null;
    return named.find(this.#openedTo(principal)) ?? named[0] ?? null;
  }

  /**
   * A text about the tools that a principal may call, made once for all that may call the same.
   *
   * @param kind distinguishes texts about the same tools
   */
  textFor(principal: Principal, kind: string, write: () => string): string {
    const key = kind + this.mark(principal);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    if (this.#lists.size >= MAX_LISTS) this.#lists.clear();
    const text = write();
    this.#lists.set(key, text);
    return text;
  }
}
