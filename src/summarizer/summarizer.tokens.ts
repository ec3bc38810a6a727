/** Under this token Nest has the options of the summarizer. */
export const SUMMARIZER_OPTIONS = Symbol('SUMMARIZER_OPTIONS');
