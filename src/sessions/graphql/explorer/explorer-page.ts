import { escapedHtml } from '../../transport/served-page.js';

/** The initial text: a query that also works with an empty store, and examples of other operations. */
const FIRST_QUERY = `# Run this query: press the button, or Ctrl-Enter.
query Sessions {
  sessions(appName: "demo", userId: "ann") {
    nodes {
      id
      version
      state
      lastUpdateTime
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}

# Other operations to try: remove the "#" here,
# and comment out the query above.

# mutation Create {
#   createSession(
#     appName: "demo", userId: "ann",
#     sessionId: "order-7", state: { step: 1 }
#   ) { id version }
# }

# mutation Append {
#   appendEvent(
#     appName: "demo", userId: "ann",
#     sessionId: "order-7",
#     event: {
#       author: "user",
#       content: { parts: [{ text: "Hello" }] }
#     }
#   ) { event { seq } }
# }

# subscription Follow {
#   eventAppended(
#     appName: "demo", userId: "ann",
#     sessionId: "order-7", afterSeq: 0
#   ) { seq author body }
# }

# A token, if the app wants one, goes into "Headers".
# Subscriptions send it as connection parameters.
`;

const STYLE = `html, body, #explorer { height: 100%; margin: 0 }`;

/** Runs in the browser, after the libraries have set \`React\`, \`ReactDOM\` and \`GraphiQL\`. */
const SCRIPT = `const root = document.getElementById('explorer');
const url = new URL(root.dataset.endpoint, location.href).href;
const fetcher = GraphiQL.createFetcher({ url, subscriptionUrl: url.replace(/^http/, 'ws') });
const defaultQuery = ${JSON.stringify(FIRST_QUERY)};
ReactDOM.createRoot(root).render(React.createElement(GraphiQL, { fetcher, defaultQuery }));
`;

/** Own files of the page. They are not inline, for a strict Content-Security-Policy. */
export const OWN_FILES: Readonly<Record<string, string>> = { 'explorer.css': STYLE, 'explorer.js': SCRIPT };

/** @param base the URL of the files, with a trailing slash */
export function explorerPage(base: string, endpoint: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>GraphQL</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <base href="${escapedHtml(base)}" />
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="graphiql.min.css" />
    <link rel="stylesheet" href="explorer.css" />
  </head>
  <body>
    <div id="explorer" data-endpoint="${escapedHtml(endpoint)}">Loading…</div>
    <script src="react.production.min.js"></script>
    <script src="react-dom.production.min.js"></script>
    <script src="graphiql.min.js"></script>
    <script src="explorer.js"></script>
  </body>
</html>
`;
}
