// Renders /openapi.json. Everything goes into the page as text, never as markup.

/** An element with attributes and children; children that are strings become text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value)
    else if (value !== undefined) made.setAttribute(key, value)
  }
  made.append(...children.filter((child) => child !== null && child !== undefined))
  return made
}

const byId = (id) => document.getElementById(id)

/** A schema as an example-like outline, with references followed a few levels down. */
function outline(schema, root, depth = 0) {
  if (schema === undefined) return 'any'
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1)
    return depth > 3 ? name : outline(root.components.schemas[name], root, depth + 1)
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined)
    return alternatives
      .map((one) => outline(one, root, depth + 1))
      .map(inline)
      .join(' | ')
  if (schema.type === 'array') return [outline(schema.items, root, depth + 1)]
  if (schema.properties !== undefined) return fields(schema, root, depth)
  const bounds = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern', 'format', 'default']
  const notes = bounds.filter((key) => schema[key] !== undefined && Math.abs(Number(schema[key])) !== Number.MAX_SAFE_INTEGER)
  return [[schema.type ?? 'any'].flat().join(' | '), ...notes.map((key) => `${key} ${JSON.stringify(schema[key])}`)].join(', ')
}

function fields(schema, root, depth) {
  const required = new Set(schema.required ?? [])
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, field]) => [required.has(name) ? name : `${name}?`, outline(field, root, depth + 1)]),
  )
}

const inline = (value) => (typeof value === 'string' ? value : JSON.stringify(value))

const block = (title, value) => [element('h3', {}, title), element('pre', {}, JSON.stringify(value, null, 2))]

function parameterTable(parameters) {
  if (parameters.length === 0) return null
  const row = ({ name, in: place, required, description, schema }) => {
    const input = element('input', { 'data-name': name, 'data-in': place, 'aria-label': name, placeholder: required ? 'required' : '' })
    return element(
      'tr',
      {},
      element('td', {}, element('code', {}, name)),
      element('td', {}, place),
      element('td', {}, description ?? outline(schema, {})),
      element('td', {}, input),
    )
  }
  return element('table', {}, element('tbody', {}, ...parameters.map(row)))
}

/** Sends the request that the form describes, with the key of the page. */
async function send({ method, path, server }, form, output) {
  const query = new URLSearchParams()
  const headers = new Headers()
  let target = path
  for (const input of form.querySelectorAll('[data-name]')) {
    const { name, in: place } = input.dataset
    if (input.value === '') continue
    if (place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(input.value))
    else if (place === 'query') query.append(name, input.value)
    else headers.set(name, input.value)
  }
  if (byId('key').value !== '') headers.set('x-service-api-key', byId('key').value)
  const body = form.querySelector('textarea')?.value
  if (body) headers.set('content-type', 'application/json')
  output.textContent = '…'
  try {
    const answer = await fetch(`${server}${target}${query.size > 0 ? `?${query}` : ''}`, {
      method: method.toUpperCase(),
      headers,
      ...(body && { body }),
    })
    const text = await answer.text()
    output.textContent = `${answer.status} ${answer.statusText}\n\n${pretty(text)}`
  } catch (error) {
    output.textContent = String(error)
  }
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function operationView(operation, root) {
  const { method, path, spec } = operation
  const body = spec.requestBody?.content['application/json']?.schema
  const example = spec.requestBody?.content['application/json']?.example
  const { schema: answer, example: answered } = spec.responses[200]?.content?.['application/json'] ?? {}
  const output = element('pre', { 'aria-live': 'polite' })
  const form = element(
    'div',
    {},
    parameterTable(spec.parameters ?? []),
    spec.requestBody
      ? element('textarea', { 'aria-label': 'Body', placeholder: example === undefined ? 'JSON body' : JSON.stringify(example, null, 2) })
      : null,
  )
  const title = element(
    'summary',
    {},
    element('span', { class: 'method' }, method.toUpperCase()),
    element('code', {}, path),
    element('span', { class: 'summary' }, spec.summary ?? ''),
  )
  const view = element('details', { id: spec.operationId }, title)
  const fill = () => {
    if (view.open && view.childElementCount === 1) {
      const scope =
        spec['x-permission'] === undefined
          ? null
          : element('p', {}, 'Scope: ', element('code', {}, [spec['x-permission']].flat().join(' or ')))
      const parts = [
        scope,
        form,
        ...(body ? block('Body', outline(body, root)) : []),
        ...(example === undefined ? [] : block('Example body', example)),
        ...(answer ? block('Answer', outline(answer, root)) : []),
        ...(answered === undefined ? [] : block('Example answer', answered)),
      ]
      const errors = Object.keys(spec.responses).filter((status) => Number(status) >= 400)
      const codes = errors.length === 0 ? null : element('p', {}, `Errors: ${errors.join(', ')}`)
      view.append(
        element(
          'div',
          {},
          ...parts.filter(Boolean),
          codes ?? '',
          element('button', { onclick: () => send(operation, form, output) }, 'Send'),
          output,
        ),
      )
    }
  }
  view.addEventListener('toggle', fill)
  view.dataset.words = `${method} ${path} ${spec.summary} ${spec['x-permission'] ?? ''} ${spec.tags}`.toLowerCase()
  return view
}

function render(root) {
  byId('version').textContent = root.info.version
  const server = new URL(root.servers[0].url, location.href).pathname
  const operations = Object.entries(root.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, spec]) => ({ method, path, spec, server })),
  )
  const sections = root.tags.map(({ name }) => {
    const own = operations.filter(({ spec }) => spec.tags.includes(name))
    return element('section', {}, element('h2', {}, name.replaceAll('-', ' ')), ...own.map((operation) => operationView(operation, root)))
  })
  byId('operations').replaceChildren(...sections)
}

function search() {
  const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const view of document.querySelectorAll('details')) view.hidden = !words.every((word) => view.dataset.words.includes(word))
  for (const section of document.querySelectorAll('section')) section.hidden = section.querySelector('details:not([hidden])') === null
}

byId('search').addEventListener('input', search)
const answer = await fetch('/openapi.json')
render(await answer.json())
