/** Where a request may name another host than the server's. */
const AUTHORITY = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;
/** What has no place in a path, be it because it means something where the path is repeated. */
const NO_PATH_CHARACTER = /[^\w!$&'()*+,;=:@%/.~-]/g;

/** The path of a request as it was asked for. A parser of URLs would make another one of dots and backslashes, which ids may hold. */
export function pathOf(target: string): string {
  const [path = ''] = target.replace(AUTHORITY, '').split(/[?#]/);
  return path.replace(NO_PATH_CHARACTER, encodeURIComponent);
}

export function queryOf(target: string): URLSearchParams {
  const [withQuery = ''] = target.split('#');
  return new URLSearchParams(withQuery.includes('?') ? withQuery.slice(withQuery.indexOf('?')) : '');
}
