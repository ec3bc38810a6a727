/** State keys of one scope, without their prefix, and their values as JSON text. */
export type StateEntries = readonly (readonly [name: string, value: string])[];
