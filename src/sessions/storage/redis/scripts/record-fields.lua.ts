/** The fields of a record, in the order in which scripts answer them and `recordOf` reads them. */
export const RECORD_FIELDS = String.raw`
local FIELDS = {
  'incarnation', 'created', 'updated', 'expires', 'first', 'last', 'tip', 'water',
  'turns', 'events', 'length', 'tokens', 'hidden', 'viewFrom', 'summary', 'marks', 'covered',
}
`;
