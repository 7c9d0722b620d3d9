import { Counter, Gauge, type Registry } from 'prom-client'

/** Metrics of the connections to databases. `db` is the name in the database's schema. */
export interface DatabaseMetrics {
  connected(db: string, isConnected: boolean): void
  /** The database is another one than before: made anew, or restored from a backup. */
  replaced(db: string): void
}

export function databaseMetrics(registry: Registry): DatabaseMetrics {
  const connected = new Gauge({
    name: 'kube_ovn_database_connected',
    help: 'Whether the database can be written to: 1, or 0 while there is no connection.',
    labelNames: ['db'],
    registers: [registry],
  })
  const replaced = new Counter({
    name: 'kube_ovn_database_replaced_total',
    help: 'How often the database was found to be made anew or restored from a backup.',
    labelNames: ['db'],
    registers: [registry],
  })
  return {
    connected(db, isConnected) {
      connected.set({ db }, isConnected ? 1 : 0)
      replaced.inc({ db }, 0)
    },
    replaced: (db) => replaced.inc({ db }),
  }
}
