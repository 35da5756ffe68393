import { Button, PasswordInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call, keepCsrfToken, type Answer, type ApiFailure } from '../../api/client.ts'
import { distance } from '../../api/figures.ts'
import { forget, useRead } from '../../api/query.ts'
import { Facts } from '../../parts/facts.tsx'
import { Page } from '../../parts/page.tsx'
import { Failed, Fault, Loading } from '../../parts/state.tsx'
import { useMe } from '../../shell/session.tsx'
import { BrowserSettings } from './browser-settings.tsx'

/** Shows the person, their places, their sessions, and a form for a new password. */
export function MePage() {
  const { user, organisation, workspaces, session } = useMe()
  const { totp, passkeys } = user.second_factors
  return (
    <Page title="Your account">
      <Facts
        facts={[
          ['Name', [user.first_name, user.last_name].filter(Boolean).join(' ')],
          ['E-mail', user.email],
          ['Organisation', `${organisation.name}: ${user.role}`],
          ['Workspaces', workspaces.map(({ name, role }) => `${name}: ${role}`).join(', ')],
          ['Authenticator app', totp ? 'Set up' : 'Not set up'],
          ['Passkeys', String(passkeys)],
          [
            'This session ends',
            `${distance(session.expires_at)}, and after ${Math.round(session.idle_timeout_seconds / 60)} minutes without use`,
          ],
        ]}
      />
      <BrowserSettings />
      <Sessions />
      {user.has_password && <Password />}
    </Page>
  )
}

type Session = Answer<'GET /auth/sessions'>['data'][number]

function Sessions() {
  const { data, error, refetch } = useRead('GET /auth/sessions', {})
  const end = useMutation<unknown, ApiFailure, Session>({
    mutationFn: ({ id: sessionId }) => call('DELETE /auth/sessions/{sessionId}', { path: { sessionId } }),
    onSuccess: () => forget('GET /auth/sessions'),
  })
  const endOthers = useMutation<unknown, ApiFailure>({
    mutationFn: () => call('DELETE /auth/sessions', {}),
    onSuccess: () => forget('GET /auth/sessions'),
  })
  return (
    <section className="stack" aria-label="Sessions">
      <h2>Sessions</h2>
      {data === undefined ? (
        error === null ? (
          <Loading rows={2} />
        ) : (
          <Failed what="list" error={error} onRetry={() => void refetch()} />
        )
      ) : (
        <table className="plain" aria-label="Sessions">
          <thead>
            <tr>
              <th scope="col">Browser</th>
              <th scope="col">Address</th>
              <th scope="col">Last used</th>
              <th scope="col">
                <span className="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.data.map((one) => (
              <tr key={one.id}>
                <td className="text-of-data">{one.user_agent ?? 'unknown'}</td>
                <td>{one.client_address}</td>
                <td>{one.current ? 'now, here' : distance(one.last_used_at)}</td>
                <td>
                  {!one.current && (
                    <Button variant="default" aria-label={`Sign out the session at ${one.client_address}`} onClick={() => end.mutate(one)}>
                      Sign out
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Fault error={end.error ?? endOthers.error} />
      <div className="row">
        <Button variant="default" onClick={() => endOthers.mutate()}>
          Sign out everywhere else
        </Button>
      </div>
    </section>
  )
}

function Password() {
  const [values, setValues] = useState({ current: '', next: '' })
  const save = useMutation<Answer<'POST /auth/password'>, ApiFailure>({
    mutationFn: () => call('POST /auth/password', { body: { current_password: values.current, password: values.next } }),
    onSuccess: ({ csrf_token: token }) => {
      keepCsrfToken(token)
      setValues({ current: '', next: '' })
      void forget('GET /auth/sessions')
    },
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className="stack form" onSubmit={onSubmit} aria-label="Password">
      <h2>Password</h2>
      <PasswordInput
        label="Present password"
        autoComplete="current-password"
        required
        value={values.current}
        onChange={(event) => setValues({ ...values, current: event.currentTarget.value })}
      />
      <PasswordInput
        label="New password"
        description="At least 12 characters. It ends all your other sessions."
        autoComplete="new-password"
        required
        value={values.next}
        onChange={(event) => setValues({ ...values, next: event.currentTarget.value })}
      />
      <Fault error={save.error} />
      <div className="row">
        <Button type="submit" loading={save.isPending}>
          Change password
        </Button>
        <span role="status">{save.isSuccess ? 'The password is changed.' : ''}</span>
      </div>
    </form>
  )
}
