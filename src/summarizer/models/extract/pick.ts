import type { Candidate } from './candidates.js';
import { inBreaths } from './in-breaths.js';
import { isSmallTalk, scoreOf } from './scores.js';
import { isQuestion } from './telling-words.js';
import { TermWeights } from './terms.js';

/** The most telling sentences that have room together, in their order. */
export async function pick(
  candidates: readonly Candidate[],
  room: number,
  lengthOf: (candidate: Candidate) => number,
  signal: AbortSignal,
): Promise<Candidate[]> {
  const picked = new Set<Candidate>();
  let left = room;
  const pickUntil = (ranked: readonly Candidate[], leave: number) => {
    for (const candidate of ranked) {
      if (picked.has(candidate) || left - lengthOf(candidate) < leave) continue;
      picked.add(candidate);
      left -= lengthOf(candidate);
    }
  };

  const ranked = await byScore(candidates, signal);
  pickUntil([firstRequest(candidates), openQuestion(candidates)].filter(isGiven), 0);
  // What was important once is not lost at once, and does not keep out what is new.
  pickUntil(
    ranked.filter(({ isEarlier }) => isEarlier),
    room / 2,
  );
  pickUntil(
    ranked.filter(({ isEarlier }) => !isEarlier),
    0,
  );
  pickUntil(ranked, 0);
  return candidates.filter((candidate) => picked.has(candidate));
}

/** Those that say something; of two that are as good, the one that was said first: the sort is stable. */
async function byScore(candidates: readonly Candidate[], signal: AbortSignal): Promise<Candidate[]> {
  const weights = new TermWeights();
  await inBreaths(candidates, signal, ({ terms }) => weights.add(terms));
  const scored: { candidate: Candidate; score: number }[] = [];
  await inBreaths(candidates, signal, (candidate) => {
    const score = scoreOf(candidate, weights);
    if (score > 0) scored.push({ candidate, score });
  });
  return scored.sort((one, other) => other.score - one.score).map(({ candidate }) => candidate);
}

function firstRequest(candidates: readonly Candidate[]): Candidate | undefined {
  const ofUser = candidates.filter(({ isUser }) => isUser);
  return ofUser.find(({ text, terms }) => !isSmallTalk(text, terms)) ?? ofUser[0];
}

/** The last question, as long as nobody else has spoken since. */
function openQuestion(candidates: readonly Candidate[]): Candidate | undefined {
  const last = candidates.at(-1);
  const lastOfOthers = candidates.findLastIndex(({ author }) => author !== last?.author);
  return candidates.slice(lastOfOthers + 1).findLast(({ text }) => isQuestion(text));
}

function isGiven<T>(value: T | undefined): value is T {
  return value !== undefined;
}
