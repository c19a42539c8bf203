/**
 * What counts as one place that attempts come from: an IPv4 address, also where it is written as an
 * IPv6 one, or the first 64 bits of an IPv6 address, which is what one customer gets.
 *
 * @returns a short text; an address of another form is its own place
 */
export function placeOf(address: string): string {
  const bare = address.replace(/%.*$/, "").toLowerCase();
  if (!bare.includes(":")) return bare.slice(0, MAX_LENGTH);
  const mapped = /^(?:0{0,4}:){2,}(?:ffff:)(\d+\.\d+\.\d+\.\d+)$/.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = bare.split("::", 2);
  const groups = head === "" ? [] : head.split(":");
  const rest = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - rest.length);
  const all = [...groups, ...new Array<string>(zeros).fill("0"), ...rest];
  const network = all.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ""));
  return `${network.join(":")}::/64`.slice(0, MAX_LENGTH);
}

const MAX_LENGTH = 64;
