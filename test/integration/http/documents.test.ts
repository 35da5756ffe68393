import test from 'ava'
import { features } from '../../../src/features/index.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { send } from '../../support/http.ts'
import { probe } from '../../support/probe-feature.ts'

let app: TestApp
test.before(async () => {
  app = await startApp({ features: [...features, probe] })
})
test.after.always(() => app.stop())

test('/openapi.json is valid JSON with an ETag, and describes what answers', async (t) => {
  const answer = await send(`${app.baseUrl}/openapi.json`)
  t.is(answer.status, 200)
  const document = JSON.parse(answer.text)
  t.is(document.openapi, '3.1.1')
  t.like(document.paths['/probe/echo'].post, { operationId: 'post_probe_echo', 'x-permission': 'workspaces.update' })
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
    if (!asset.includes('swagger-ui') && asset !== '/openapi.json') t.notRegex(answer.text, /https?:\/\/|innerHTML|\beval\b/)
  }
})

test('/ leads to the API page, whatever host the request claims', async (t) => {
  const answer = await send(`${app.baseUrl}/`, { headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' } })
  t.is(answer.status, 302)
  t.is(answer.headers.location, '/docs')
})
