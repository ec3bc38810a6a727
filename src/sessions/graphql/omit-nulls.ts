/** Arguments without null, which means the same as a missing argument. */
type WithoutNulls<Arguments> = { [Name in keyof Arguments]: Exclude<Arguments[Name], null> };

export function omitNulls<Arguments extends object>(args: Arguments): WithoutNulls<Arguments> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)) as WithoutNulls<Arguments>;
}
