/** Several nodes, each a program, with one database of PostgreSQL and one IRC network. */
import { join } from "node:path";
import { freePort } from "./free_port.ts";
import type { TestNetwork } from "./network.ts";
import type { Services } from "./network_config.ts";
import { postgresOf } from "./postgres.ts";
import { type Program, startProgram } from "./program.ts";

const BRIDGE_PASSWORD = "password-of-the-bridge";

/** Files that are the same on all nodes. */
const KEYS = ["token_key", "event_key", "network_key", "cloak_key"];

export interface NodesPlan {
  /** Holds a folder for each node. */
  readonly folder: string;
  readonly network: TestNetwork;
  readonly services: Services;
}

/** Starts a node, whose bridge gets an account of its own. */
export async function startNode(
  name: string,
  { folder, network, services }: NodesPlan,
  first: Program | null,
): Promise<Program> {
  const { plan, servicesPassword } = network;
  const account = `bridge-${name}`;
  await network.register(account, BRIDGE_PASSWORD);
  const own = join(folder, name);
  await Deno.mkdir(join(own, "data"), { recursive: true, mode: 0o700 });
  if (first !== null) {
    for (const key of KEYS) {
      const [from, to] = [join(first.folder, "data", key), join(own, "data", key)];
      await Deno.copyFile(from, to);
    }
  }
  const config = {
    node: { name, url: `http://127.0.0.1:${freePort()}` },
    database: { url: await postgresOf(join(folder, "database")) },
    irc: {
      mode: "external",
      addr: `127.0.0.1:${plan.port}`,
      services: {
        kind: services,
        account: plan.servicesAccount,
        password: servicesPassword,
        oper: plan.operator.name,
        oper_password: plan.operator.password,
      },
    },
    bridge: { account, password: BRIDGE_PASSWORD, lines_per_second: 0 },
  };
  return await startProgram({ folder: own, config: JSON.stringify(config) });
}
