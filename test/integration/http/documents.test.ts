import test from 'ava'
import { startApp, type TestApp } from '../../support/app.ts'
import { send } from '../../support/http.ts'

let app: TestApp
test.before(async () => {
  app = await startApp()
})
test.after.always(() => app.stop())

test('/openapi.json is valid JSON with an ETag, and describes what answers', async (t) => {
  const answer = await send(`${app.baseUrl}/openapi.json`)
  t.is(answer.status, 200)
  const document = JSON.parse(answer.text)
  t.is(document.openapi, '3.1.1')
  t.like(document.paths['/configs'].post, { operationId: 'post_configs', 'x-permission': 'configs.create' })
  t.truthy(document.paths['/chat/completions'].post)
  const again = await send(`${app.baseUrl}/openapi.json`, { headers: { 'if-none-match': String(answer.headers.etag) } })
  t.is(again.status, 304)
  t.is(again.text, '')
})

test('no operation of /openapi.json has a parameter twice', async (t) => {
  const { paths } = JSON.parse((await send(`${app.baseUrl}/openapi.json`)).text)
  const parameters = Object.entries<Record<string, { parameters?: { in: string; name: string }[] }>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      (operation.parameters ?? []).map((parameter) => `${method} ${path}: ${parameter.in} ${parameter.name}`),
    ),
  )
  t.true(parameters.length > 500)
  t.deepEqual(
    parameters.filter((parameter, at) => parameters.indexOf(parameter) !== at),
    [],
  )
})

test('the API page loads nothing from elsewhere and nothing inline', async (t) => {
  const page = await send(`${app.baseUrl}/docs`)
  const policy = String(page.headers['content-security-policy'])
  t.regex(policy, /default-src 'none'/)
  t.notRegex(policy.replace("img-src 'self' data:", ''), /unsafe|https?:|\*|data:/)
  t.notRegex(page.text, /<script(?![^>]*src=)|<style|\son\w+=|style=/)
  const assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? '')
  t.true(assets.length >= 3)
  for (const asset of assets) {
    t.regex(asset, /^\/(?!\/)/)
    const answer = await send(app.baseUrl + asset)
    t.is(answer.status, 200, asset)
    // Swagger UI names hosts in its code; the policy keeps a browser from them.
    if (!asset.includes('swagger-ui') && asset !== '/openapi.json')
      t.notRegex(answer.text.replace(/xmlns="[^"]+"/, ''), /https?:\/\/|innerHTML|\beval\b/)
  }
})

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

test('a browser gets a start page with the base URL, whatever host it claims; its links lead somewhere', async (t) => {
  const page = await send(`${app.baseUrl}/`, { headers: { ...browser, host: 'evil.example', 'x-forwarded-host': 'evil.example' } })
  t.is(page.status, 200)
  t.is(page.headers.vary, 'accept')
  t.regex(page.text, /Gatehouse is running/)
  t.regex(page.text, /Base URL: <code>https?:\/\/127\.0\.0\.1:\d+\/v1</)
  t.notRegex(page.text, /evil|<script|<style|style=|\son\w+=/)
  for (const client of ['curl', 'OpenAI, Python', 'OpenAI, JavaScript', 'Anthropic, Python', 'Google, Python'])
    t.true(page.text.includes(client))
  const links = [...page.text.matchAll(/href="([^"]+)"/g)].map(([, url]) => url ?? '')
  t.true(links.length >= 6)
  for (const link of links) t.is((await send(app.baseUrl + link)).status, 200, link)
})

test('a browser reads of a path that nobody serves on a page, a program in JSON', async (t) => {
  const page = await send(`${app.baseUrl}/<b>nowhere`, { headers: browser })
  t.is(page.status, 404)
  t.regex(String(page.headers['content-type']), /^text\/html/)
  t.regex(page.text, /There is no such page/)
  t.false(page.text.includes('<b>nowhere'))
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    const answer = await send(`${app.baseUrl}/nowhere`, { headers })
    t.is(answer.status, 404)
    t.is(JSON.parse(answer.text).error.code, 'not_found')
  }
  const posted = await send(`${app.baseUrl}/nowhere`, { method: 'POST', headers: browser })
  t.is(JSON.parse(posted.text).error.code, 'not_found')
})

test('/docs/ leads to /docs, and the picture of the pages is there', async (t) => {
  t.is((await send(`${app.baseUrl}/docs/`)).headers.location, '/docs')
  const picture = await send(`${app.baseUrl}/favicon.ico`)
  t.is(picture.status, 200)
  t.is(picture.headers['content-type'], 'image/svg+xml')
})

test('/ leads programs to the API page, whatever host the request claims', async (t) => {
  const answer = await send(`${app.baseUrl}/`, { headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' } })
  t.is(answer.status, 302)
  t.is(answer.headers.location, '/docs')
})
