import { channelName } from "../irc/mod.ts";
import type { Policies } from "../policies/mod.ts";

/** The channels in which the enabled bots report. */
export function reportChannels(policies: Pick<Policies, "of">): string[] {
  const sentinel = policies.of("sentinel");
  const steward = policies.of("steward");
  const snitch = policies.of("snitch");
  const shepherd = policies.of("shepherd");
  const herald = policies.of("herald");
  const places: readonly (readonly [isEnabled: boolean, channel: string])[] = [
    [sentinel.enabled, sentinel.mod_channel],
    [steward.enabled, steward.mod_channel],
    [snitch.enabled, snitch.alert_channel],
    [shepherd.enabled, shepherd.report_channel],
    [herald.enabled, herald.channel],
  ];
  return places.flatMap(([isEnabled, channel]) => isEnabled ? channelName(channel) ?? [] : []);
}
