/** Settings of which some may be missing. */
type Given<Settings> = { readonly [Name in keyof Settings]?: Settings[Name] | undefined };

/** Fills in the defaults. A setting that is `undefined` counts as missing. */
export function withDefaults<Settings extends object>(given: Given<Settings>, defaults: Given<Settings>): Settings {
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(known) } as Settings;
}
