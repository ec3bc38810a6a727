import { isOneEditAway, similarNames } from '../../src/config/near-miss.js';

const NAMES = ['url', 'ttl', 'history', 'maxEvents', 'content', 'contents', 'id'];

describe('names that somebody meant', () => {
  it.each([
    ['max_events', ['maxEvents']],
    ['MAXEVENTS', ['maxEvents']],
    ['max-events', ['maxEvents']],
    ['maxEvent', ['maxEvents']],
    ['histroy', ['history']],
    ['tll', ['ttl']],
    ['Content', ['content']],
    ['contentt', ['content', 'contents']],
    ['maxEvents', []],
    ['ids', ['id']],
    ['xd', []],
    ['hstry', []],
    ['', []],
  ])('%j: %j', (name, meant) => {
    expect(similarNames(name, NAMES)).toEqual(meant);
  });

  it.each([
    ['content', 'contnet', true],
    ['content', 'ontent', true],
    ['content', 'contentx', true],
    ['content', 'kontent', true],
    ['content', 'content', false],
    ['content', 'ocntetn', false],
    ['content', 'cont', false],
    ['', 'a', true],
    ['', '', false],
  ])('%j and %j are one letter apart: %j', (one, other, expected) => {
    expect(isOneEditAway(one, other)).toBe(expected);
    expect(isOneEditAway(other, one)).toBe(expected);
  });
});
