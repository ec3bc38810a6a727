import { type TracePlace, toTraceUrl } from '../../src/inspector/trace-links.js';

/** Leads to the collector of the app, which learns nothing of the page that one comes from. */
export function TraceLink({ template, place }: { readonly template: string; readonly place: TracePlace }) {
  return (
    <a class="trace-link" href={toTraceUrl(template, place)} target="_blank" rel="noreferrer">
      Traces
    </a>
  );
}
