import type { Config } from '../../config/config.ts'
import { escapeHtml } from '../../lib/text/escape-html.ts'
import { ownOrigin } from '../own-origin.ts'
import { html, pageHeaders, pageOf, readAsset } from './page.ts'
import { cached, type StaticAnswer } from './static-answer.ts'

type Settings = Pick<Config, 'publicUrl' | 'host' | 'port' | 'tls' | 'roles'>

const model = '@openai-prod/gpt-4o-mini'

/** A first call in the words of each client. */
const snippets = (origin: string): readonly (readonly [client: string, code: string])[] => [
  [
    'curl',
    `curl ${origin}/v1/chat/completions -H "authorization: Bearer $WORKSPACE_KEY" -H "content-type: application/json" -d '{"model":"${model}","messages":[{"role":"user","content":"Say hello"}]}'`,
  ],
  [
    'OpenAI, Python',
    `client = OpenAI(base_url="${origin}/v1", api_key=WORKSPACE_KEY)\nclient.chat.completions.create(model="${model}", messages=messages)`,
  ],
  [
    'OpenAI, JavaScript',
    `const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: WORKSPACE_KEY })\nawait client.chat.completions.create({ model: '${model}', messages })`,
  ],
  [
    'Anthropic, Python',
    `client = Anthropic(base_url="${origin}", auth_token=WORKSPACE_KEY)\nclient.messages.create(model="${model}", max_tokens=100, messages=messages)`,
  ],
  [
    'Google, Python',
    `client = genai.Client(api_key=WORKSPACE_KEY, http_options={"base_url": "${origin}"})\nclient.models.generate_content(model="${model}", contents="Say hello")`,
  ],
]

/** Returns the page at `/` for people: that it runs, where clients reach it, and where to go on. */
export function homePage(config: Settings): StaticAnswer {
  const origin = ownOrigin(config)
  const links = [
    ['/docs', 'the API, to read and to try'],
    ['/openapi.json', 'its description'],
    ...(config.roles.has('control') ? [['/console', 'sign in']] : []),
    ['/readyz', 'the state of this process'],
  ]
  const main = `<h1>Gatehouse is running</h1>
      <p>Base URL: <code>${escapeHtml(origin)}/v1</code></p>
      <ul>
        ${links.map(([path, about]) => `<li><a href="${path}">${path}</a>: ${about}</li>`).join('\n        ')}
      </ul>
      <h2>A first call</h2>
      <p>Once the provider <code>openai-prod</code> is stored (<code>POST /v1/integrations</code>):</p>
      ${snippets(origin)
        .map(([client, code]) => `<h3>${client}</h3>\n      <pre>${escapeHtml(code)}</pre>`)
        .join('\n      ')}`
  return cached(html, pageOf({ title: 'Running', script: null, main }), pageHeaders())
}

/** Returns the picture of the pages. */
export const icon = (): StaticAnswer => cached('image/svg+xml', readAsset('assets/pages/icon.svg'), pageHeaders())
