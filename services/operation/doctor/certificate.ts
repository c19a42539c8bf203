import { amount } from "../../kernel/words.ts";
import { X509Certificate } from "node:crypto";
import { type Finding, findingsOf, quoted, reasonOf } from "./finding.ts";

const DAY = 24 * 60 * 60_000;

/** A certificate should be renewed when it has so many days left. */
const SOON = 14;

/** Checks that a certificate is valid today, and that the key is its own. */
export async function checkCertificate(
  { cert, key }: { readonly cert: string; readonly key: string },
  now: number,
): Promise<Finding[]> {
  if (cert === "") return [];
  const found = findingsOf("tls");
  const renew = "renew the certificate, then reload muster with SIGHUP";
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(await Deno.readTextFile(cert));
  } catch (error) {
    const fix = `let tls.cert name a certificate in PEM form: openssl x509 -in ${
      quoted(cert)
    } -noout`;
    return [found.error(`"${cert}" (tls.cert) cannot be read: ${reasonOf(error)}`, fix)];
  }
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  const findings: Finding[] = [];
  if (to < now) findings.push(found.error(`The certificate "${cert}" has expired`, renew));
  else if (to - now < SOON * DAY) {
    const days = Math.floor((to - now) / DAY);
    findings.push(
      found.warning(`The certificate "${cert}" expires in ${amount(days, "day")}`, renew),
    );
  }
  if (from > now) {
    const fix = "check the clock of this machine, or wait";
    findings.push(found.error(`The certificate "${cert}" is not valid yet`, fix));
  }
  return [...findings, ...await checkPair(cert, key), ...checkSecrecy(key)];
}

/** A group may read a key, such as the group of a program that renews it. */
function checkSecrecy(key: string): Finding[] {
  if (Deno.build.os === "windows") return [];
  let mode: number;
  try {
    mode = Deno.statSync(key).mode ?? 0;
  } catch {
    return [];
  }
  if ((mode & 0o007) === 0) return [];
  const message = `Every user can read "${key}" (mode ${
    (mode & 0o777).toString(8)
  }), the key of TLS`;
  return [findingsOf("tls").error(message, `chmod o= ${quoted(key)}`)];
}

/** A listener refuses a key that is not the certificate's. */
async function checkPair(cert: string, key: string): Promise<Finding[]> {
  const found = findingsOf("tls");
  try {
    const pair = { cert: await Deno.readTextFile(cert), key: await Deno.readTextFile(key) };
    Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...pair }).close();
    return [];
  } catch (error) {
    const message = `"${key}" (tls.key) does not go with "${cert}" (tls.cert): ${reasonOf(error)}`;
    return [found.error(message, "let both keys name files of the same pair")];
  }
}
