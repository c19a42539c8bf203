/** The name of a person or an admin, with a link to their page. */
export function PersonLink({ name }: { readonly name: string }) {
  return <a href={`/people/${encodeURIComponent(name)}`}>{name}</a>;
}
