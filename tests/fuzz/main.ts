/**
 * `deno task fuzz [REQUESTS] [SEED]`: random requests to the real program, compared with its own
 * OpenAPI document, and random lines for the parser of IRC.
 */
import { fuzzMessages } from "../services/irc/fuzz_message.ts";
import { fuzzHttp } from "./http_fuzz.ts";

/** Inputs of the parser; they cost less than requests. */
const IRC_INPUTS = 1_000_000;

const requests = Number(Deno.args[0] ?? 20_000);
const seed = Number(Deno.args[1] ?? Date.now() % 2 ** 31);

say(`seed ${seed}`);
fuzzMessages(IRC_INPUTS, seed);
say(`${IRC_INPUTS} inputs for the parser of IRC: it stood`);
const tally = await fuzzHttp(requests, seed);
const statuses = [...tally].toSorted(([one], [other]) => one - other);
say(`${requests} requests: ${statuses.map(([status, count]) => `${status}: ${count}`).join(", ")}`);

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
