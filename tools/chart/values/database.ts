import { dataKey, filePath, objectName, section, type Leaf, type Tree } from '../node.ts'

/** PostgreSQL: settings at places of their own, and the Secrets that the templates mount. */
export const database = (setting: (name: string) => Leaf): Tree => ({
  database: section('The PostgreSQL to use. The chart brings none; `examples/` shows one.', {
    host: setting('DB_HOST'),
    port: setting('DB_PORT'),
    name: setting('DB_NAME'),
    user: setting('DB_USER'),
    poolSize: setting('DB_POOL_SIZE'),
    existingSecret: objectName('The Secret with the password.'),
    passwordKey: dataKey('The key of the password in it.', 'password'),
    passwordFile: filePath('The file with the password, written into the pods by another tool, instead of `existingSecret`.'),
    ssl: {
      ...section('TLS to PostgreSQL.', {
        mode: setting('DB_SSL'),
        existingSecret: objectName('The Secret with the certificates below.'),
        caKey: dataKey('The key of the trusted authorities.'),
        certKey: dataKey('The key of the client certificate.'),
        keyKey: dataKey("The key of the client certificate's private key."),
      }),
      since: '1.6.2',
    },
  }),
})
