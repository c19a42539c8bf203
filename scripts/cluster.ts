/** What `scripts/cluster` runs: a cluster on this machine, until a command or the person ends it. */
import { Cluster, clusterPeers } from "../tests/support/real_cluster.ts";

/** Most nodes; each takes 150 MB. */
const MAX_NODES = 9;

const end = Deno.args.indexOf("--");
const [words, command] = end < 0
  ? [Deno.args, []]
  : [Deno.args.slice(0, end), Deno.args.slice(end + 1)];
const count = Number(words[0] ?? "3");
if (!Number.isInteger(count) || count < 1 || count > MAX_NODES) {
  say(`The number of nodes must be from 1 to ${MAX_NODES}`);
  Deno.exit(2);
}
if (clusterPeers().ignore) Deno.exit(1);
Deno.exit(await run());

async function run(): Promise<number> {
  const nodes = Array.from({ length: count }, (_, index) => String.fromCharCode(97 + index));
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, resolve);
  });
  await using cluster = await Cluster.start({ nodes, balanced: true });
  const { token } = cluster.node("a");
  if (command.length > 0) return await runCommand({ MUSTER_URL: cluster.url, MUSTER_TOKEN: token });
  say(`folder     ${cluster.folder}`);
  say(`Caddy      ${cluster.url}`);
  for (const name of nodes) say(`node ${name}     ${cluster.node(name).api}`);
  say(`IRC        127.0.0.1:${cluster.network.plan.port}`);
  say(`PostgreSQL ${cluster.postgres.url}`);
  say(`API token  ${token}`);
  say("Ctrl+C ends it");
  await interrupted;
  return 0;
}

async function runCommand(env: Readonly<Record<string, string>>): Promise<number> {
  const [program = "", ...args] = command;
  return (await new Deno.Command(program, { args, env }).spawn().status).code;
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
