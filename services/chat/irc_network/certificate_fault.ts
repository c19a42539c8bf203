/** What helps against a fault of a network's certificate, by the runtime's word for the fault. */
const REMEDIES: readonly (readonly [RegExp, (serverName: string) => string])[] = [
  [
    /UnknownIssuer/,
    () =>
      "The network's certificate is from no authority that muster trusts: name its file in irc.tls.ca",
  ],
  [
    /NotValidForName|not valid for name/,
    (serverName) =>
      `The network's certificate is not for "${serverName}": name the host that it is for in ` +
      "irc.tls.server_name",
  ],
  [
    /CaUsedAsEndEntity/,
    () =>
      "The network's certificate is that of an authority: make one with basicConstraints=CA:FALSE",
  ],
  [/Expired/, () => "The network's certificate has expired: renew it"],
];

/**
 * Says what helps if a TLS handshake failed because of the server's certificate.
 *
 * @param error the error of the handshake
 * @param serverName the name that the certificate must be for
 * @returns an error that says so, or the error itself
 */
export function explainCertificate(error: unknown, serverName: string): unknown {
  const [, fault] = error instanceof Error
    ? /invalid peer certificate: (.*)/s.exec(error.message) ?? []
    : [];
  if (fault === undefined) return error;
  const [, remedy] = REMEDIES.find(([pattern]) => pattern.test(fault)) ?? [];
  return remedy === undefined ? error : new Error(remedy(serverName), { cause: error });
}
