import type { Principal } from "../services/identity/mod.ts";
import type { Tool, ToolRights } from "./tool.ts";

/** Most remembered lists: callers differ by their kind and rights, of which there are few. */
const MAX_LISTS = 100;

/** The tools of a server. Each caller sees the tools that it may call. */
export class Toolbox {
  readonly #tools: readonly Tool[];
  /** The rights of the tools, each once. */
  readonly #rights: readonly ToolRights[];
  readonly #named = new Map<string, readonly Tool[]>();
  readonly #lists = new Map<string, string>();

  /**
   * @param tools in the order of the list; several may share a name if no caller may call two of
   * them
   */
  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
    this.#rights = [...new Set(tools.map(({ rights }) => rights))];
    for (const tool of tools) {
      this.#named.set(tool.name, [...this.#named.get(tool.name) ?? [], tool]);
    }
  }

  /** The tools that a principal may call. */
  openTo(principal: Principal): readonly Tool[] {
    const opened = new Set(this.#rights.filter((rights) => rights.opens(principal)));
    return this.#tools.filter(({ rights }) => opened.has(rights));
  }

  /** Stands for the set of tools that a principal may call: the same set, the same text. */
  mark(principal: Principal): string {
    return this.#rights.map((rights) => rights.opens(principal) ? "1" : "0").join("");
  }

  /** The tool of this name, or null. The tool itself refuses a principal that may not call it. */
  find(name: string, principal: Principal): Tool | null {
    const named = this.#named.get(name) ?? [];
    if (named.length <= 1) return named[0] ?? null;
    return named.find(({ rights }) => rights.opens(principal)) ?? named[0] ?? null;
  }

  /**
   * A text about the tools that a principal may call, made once for all that may call the same.
   *
   * @param kind distinguishes texts about the same tools
   */
  textFor(principal: Principal, kind: string, write: (tools: readonly Tool[]) => string): string {
    const key = kind + this.mark(principal);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    if (this.#lists.size >= MAX_LISTS) this.#lists.clear();
    const text = write(this.openTo(principal));
    this.#lists.set(key, text);
    return text;
  }
}
