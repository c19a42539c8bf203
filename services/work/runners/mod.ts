/** Runners: the programs that run checks, each with a token that opens nothing but its jobs. */
export { type Lease, LEASE_MS, leaseGone, Leases } from "./leases.ts";
export { type Runner, Runners } from "./runners.ts";
