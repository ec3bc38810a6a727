/** Arguments where null is gone: in GraphQL it says the same as leaving one out. */
type Given<Arguments> = { [Name in keyof Arguments]: Exclude<Arguments[Name], null> };

export function given<Arguments extends object>(args: Arguments): Given<Arguments> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) as Given<Arguments>;
}
