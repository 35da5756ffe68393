import type { Answer } from '../../api/client.ts'
import { State } from '../../parts/state.tsx'
import { texts } from './texts.ts'

type Dependant = NonNullable<Answer<'GET /integrations/{slug}'>['used_by']>[number]

/** Whatever names an account or a provider, so that it cannot be deleted while these are there. */
export const UsedBy = ({ users }: { readonly users: readonly Dependant[] }) =>
  users.length === 0 ? (
    <State title={texts.unused} />
  ) : (
    <table className="plain" aria-label="Used by">
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col">Name</th>
          <th scope="col">Slug</th>
          <th scope="col">Workspace</th>
        </tr>
      </thead>
      <tbody>
        {users.map(({ kind, id, name, slug, workspace }) => (
          <tr key={kind + id}>
            <td>{kind.replaceAll('_', ' ')}</td>
            <td className="text-of-data">{name}</td>
            <td className="text-of-data">{slug}</td>
            <td className="text-of-data">{workspace ?? '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
