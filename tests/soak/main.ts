/**
 * `deno task soak [KILLS] [SEED]`: kills the real program at random moments of a mixed load, and
 * compares what it holds after each restart with what it acknowledged. Needs `fossil`.
 */
import { soak } from "./kills.ts";

const kills = Number(Deno.args[0] ?? 200);
const seed = Number(Deno.args[1] ?? Date.now() % 2 ** 31);

say(`seed ${seed}`);
const { acknowledged } = await soak(kills, seed, (kill, tally) => {
  say(`kill ${kill} of ${kills}: ${tally.acknowledged} changes acknowledged, none lost`);
});
say(`${kills} kills, ${acknowledged} changes: nothing lost, nothing half done`);

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
