import type { Principal } from "../services/identity/mod.ts";
import type { Tool } from "./tool.ts";

/** The tools of a server. Each caller sees the tools that it may call. */
export class Toolbox {
  readonly #tools: readonly Tool[];

  /**
   * @param tools in the order of the list; several may share a name if no caller may call two of
   * them
   */
  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
  }

  /** The tools that a principal may call. */
  openTo(principal: Principal): readonly Tool[] {
    return this.#tools.filter((tool) => tool.opens(principal));
  }

  /** The tool of this name, or null. The tool itself refuses a principal that may not call it. */
  find(name: string, principal: Principal): Tool | null {
    const named = this.#tools.filter((tool) => tool.name === name);
    return named.find((tool) => tool.opens(principal)) ?? named[0] ?? null;
  }
}
