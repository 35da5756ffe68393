import { Copy } from '../../parts/copy.tsx'
import { useMe } from '../../shell/session.tsx'
import type { Scope } from '../../shell/scope.ts'

interface SnippetProps {
  readonly scope: Scope
  readonly apiKey?: string
  readonly model?: string
}

/** A first request, to be pasted into a terminal. */
export function Snippet({ scope, apiKey = '$WORKSPACE_KEY', model = '@openai-prod/gpt-4o-mini' }: SnippetProps) {
  const { installation } = useMe()
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello' }] })
  const text = `curl ${installation.public_url}/v1/chat/completions \\
  -H "authorization: Bearer ${apiKey}" \\
  -H "content-type: application/json" \\
  -d '${body}'`
  return (
    <div className="stack">
      <pre className="text" tabIndex={0} aria-label={`A request to ${scope.name}`}>
        {text}
      </pre>
      <div>
        <Copy text={text} label="Copy the request" word="Copy the request" />
      </div>
    </div>
  )
}
