import { parseRequestPath, parseRequestQuery } from '../../src/sessions/rest/page-links.js';

describe('a request target', () => {
  it.each([
    ['/apps/a/state', '/apps/a/state'],
    ['/apps/a%2F..%2Fb/state?limit=1', '/apps/a%2F..%2Fb/state'],
    ['/apps/%2e%2e/state', '/apps/%2e%2e/state'],
    ['/apps/a\\b/state', '/apps/a%5Cb/state'],
    ['/apps/a>;rel="next"/state', '/apps/a%3E;rel=%22next%22/state'],
    ['//elsewhere/apps/a/state', '//elsewhere/apps/a/state'],
    ['http://elsewhere:80/apps/a/state?x', '/apps/a/state'],
    ['http://elsewhere', ''],
  ])('%s has the path %s', (target, path) => {
    expect(parseRequestPath(target)).toBe(path);
  });

  it('can have a query, also an empty one', () => {
    expect([...parseRequestQuery('/apps/a/state?limit=1&cursor=a%26b?c')]).toEqual([
      ['limit', '1'],
      ['cursor', 'a&b?c'],
    ]);
    expect([...parseRequestQuery('/apps/a/state')]).toEqual([]);
    expect([...parseRequestQuery('/apps/a/state?')]).toEqual([]);
  });
});
