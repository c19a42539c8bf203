/** Certificates from an authority that speaks ACME (RFC 8555), such as Let's Encrypt. */
export { AcmeCertificate, type AcmeOptions } from "./certificate.ts";
export { answerChallenges } from "./challenges.ts";
