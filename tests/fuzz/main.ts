/**
 * `deno task fuzz [REQUESTS] [SEED]`: random requests to the real program, compared with its own
 * OpenAPI document, random lines for the parser of IRC, and random commands of many IRC clients,
 * compared with a model of channels, and mutated ones, after which clients and server have to agree.
 */
import { fuzzChannels } from "../services/engines/irc/fuzz_channels.ts";
import { fuzzViews } from "../services/engines/irc/fuzz_views.ts";
import { fuzzMessages } from "../services/engines/irc/fuzz_message.ts";
import { fuzzHttp } from "./http_fuzz.ts";

/** Inputs of the parser; they cost less than requests. */
const IRC_INPUTS = 1_000_000;

/** Sequences of commands of IRC clients, and how many commands one has on average. */
const IRC_SEQUENCES = 20;
const IRC_COMMANDS = 20_000;

const requests = Number(Deno.args[0] ?? 20_000);
const seed = Number(Deno.args[1] ?? Date.now() % 2 ** 31);

say(`seed ${seed}`);
fuzzMessages(IRC_INPUTS, seed);
say(`${IRC_INPUTS} inputs for the parser of IRC: it stood`);
await fuzzChannels(IRC_SEQUENCES, IRC_COMMANDS, seed);
say(`${IRC_SEQUENCES} sequences of about ${IRC_COMMANDS} commands: IRC did as the model says`);
await fuzzViews(IRC_SEQUENCES, IRC_COMMANDS, seed);
say(`${IRC_SEQUENCES} sequences of about ${IRC_COMMANDS} mutated lines: clients and server agree`);
const tally = await fuzzHttp(requests, seed);
const statuses = [...tally].toSorted(([one], [other]) => one - other);
say(`${requests} requests: ${statuses.map(([status, count]) => `${status}: ${count}`).join(", ")}`);

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
