/** The part of `highlight.js` that muster uses. */
declare const library: {
  /** Marks the code up as HTML; throws if it does not know the language. */
  highlight(
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): { readonly value: string };
  /** The grammar of a language by any of its names; undefined if it is not known. */
  getLanguage(name: string): object | undefined;
};

export default library;
