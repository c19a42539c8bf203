import type { Principal } from "../services/identity/mod.ts";
import type { Tool } from "./tool.ts";

/** The tools of a server. Each caller sees the tools that it may call. */
export class Toolbox {
  readonly #tools: readonly Tool[];

  /**
   * @param tools in the order in which they are listed; several may have one name where no two of
   * them are open to the same caller
   */
  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
  }

  /** The tools that a principal may call. */
  openTo(principal: Principal): readonly Tool[] {
    return this.#tools.filter((tool) => tool.opens(principal));
  }

  /**
   * The tool of this name, or null. Where the principal may not call it, that is the tool's to say.
   */
  find(name: string, principal: Principal): Tool | null {
    const named = this.#tools.filter((tool) => tool.name === name);
    return named.find((tool) => tool.opens(principal)) ?? named[0] ?? null;
  }
}
