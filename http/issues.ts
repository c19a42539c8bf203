import type { z } from "zod";

/** A sentence on what is wrong with which field. */
export function describeIssue(issue: z.core.$ZodIssue): string {
  const field = issue.path.map(String).join(".");
  if (field === "") {
    if (issue.code === "invalid_type") return `The body must be a JSON ${issue.expected}`;
    return issue.message;
  }
  if (issue.code !== "invalid_type") return `"${field}": ${issue.message}`;
  if (issue.message.endsWith("received undefined")) return `"${field}" is required`;
  return `"${field}" must be ${article(issue.expected)} ${issue.expected}`;
}

function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? "an" : "a";
}
