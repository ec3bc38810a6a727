/**
 * What a tool's response says that went wrong: the `error` of an object, as in ADK. `undefined` for a success, also for one that says
 * that there was no error: `{ data, error: null }`.
 */
export function toolError(response: unknown): unknown {
  if (typeof response !== 'object' || response === null || !Object.hasOwn(response, 'error')) return undefined;
  const { error } = response as { readonly error: unknown };
  return error === null || error === false ? undefined : error;
}

/**
 * What went wrong, in words; `undefined` for a success, also for one that says that there was no error: `{ data, error: null }`.
 *
 * @example const isError = toolErrorText(functionResponse.response) !== undefined;
 */
export function toolErrorText(response: unknown): string | undefined {
  const error = toolError(response);
  return error === undefined || typeof error === 'string' ? error : JSON.stringify(error);
}
