import { events } from '@kube-ovn/kube-api/core'
import { recordingLogger, type LogFields, type Logger } from '@kube-ovn/log'
import { readConfig } from '@kube-ovn/process'
import { processRegistry } from '@kube-ovn/telemetry'
import type { KubeApi } from '@kube-ovn/testing-kube'
import { command } from './config.ts'
import { runController } from './wiring.ts'

/** A logger that tells when a line comes. */
function followedLogger() {
  const logger = recordingLogger()
  const waiters = new Set<() => void>()
  /** Children wake, too. */
  function following(inner: Logger): Logger {
    function followed(level: 'debug' | 'info' | 'warn' | 'error') {
      return (message: string, fields?: LogFields) => {
        inner[level](message, fields)
        for (const wake of waiters) wake()
      }
    }
    return {
      debug: followed('debug'),
      info: followed('info'),
      warn: followed('warn'),
      error: followed('error'),
      child: (fields) => following(inner.child(fields)),
    }
  }
  return {
    logger: following(logger),
    lines: logger.lines,
    /** Waits for a line that came or comes. */
    line(message: string, isIt: (fields: LogFields) => boolean = () => true): Promise<LogFields> {
      return new Promise((resolve) => {
        const look = () => {
          const found = logger.lines.find((line) => line.message === message && isIt(line.fields))
          if (found === undefined) return
          waiters.delete(look)
          resolve(found.fields)
        }
        waiters.add(look)
        look()
      })
    },
  }
}

/** The controller in this process, until it is disposed. `addresses` are those of the Northbound. */
export async function startController(
  api: KubeApi,
  addresses: readonly string[],
  ...flags: readonly string[]
) {
  const parsed = readConfig(
    command,
    [
      `--ovn-nb-addr=${addresses.join()}`,
      `--kubeconfig=${await api.accountKubeconfig('kube-system/ovn')}`,
      '--pprof-port=0',
      '--unserved-limit=0s',
      ...flags,
    ],
    { POD_NAMESPACE: 'kube-system', POD_NAME: 'controller-0' },
  )
  if (parsed.kind === 'help') throw new Error(parsed.text)
  const followed = followedLogger()
  const stop = new AbortController()
  const running = runController(parsed.config, followed.logger, processRegistry(), stop.signal)
  const ended = running.then((): never => {
    throw new Error('controller ended')
  })
  ended.catch(() => undefined)
  function line(message: string, isIt?: (fields: LogFields) => boolean): Promise<LogFields> {
    return Promise.race([followed.line(message, isIt), ended])
  }
  const { endpoints } = await line('health checks served')
  const port = String(endpoints).split(':').at(-1)
  async function get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return { status: answer.status, text: await answer.text() }
  }
  return {
    line,
    /** What it has logged so far. */
    lines: followed.lines,
    metrics: async () => (await get('/metrics')).text,
    readiness: () => get('/readyz'),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

/** The sum of the samples of a metric whose labels contain the given text; `undefined` when there is none. */
export function valueOf(text: string, name: string, labels = ''): number | undefined {
  const samples = text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => line.includes(labels))
  if (samples.length === 0) return undefined
  return samples.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** What the controller has written into a Northbound, as far as a reader of it can tell one from another. */
export async function contentsOf(northbound: {
  nbctl(...args: readonly string[]): Promise<string>
}): Promise<readonly string[]> {
  const columns = {
    Logical_Switch: 'name,other_config',
    Logical_Switch_Port: 'name,addresses,type',
    Logical_Router_Port: 'name,mac,networks',
    Logical_Router_Policy: 'priority,match,action',
    Logical_Router_Static_Route: 'ip_prefix,nexthop',
    Port_Group: 'name',
    Address_Set: 'name,addresses',
  }
  const tables = Object.entries(columns).map(async ([table, names]) => {
    const options = ['--bare', '--format=csv', '--no-headings', `--columns=${names}`]
    const text = await northbound.nbctl(...options, 'list', table)
    return text.split('\n').map((line) => `${table} ${line}`)
  })
  return (await Promise.all(tables)).flat().sort()
}

/** Reasons of all events. */
export async function eventReasons(api: KubeApi): Promise<readonly (string | undefined)[]> {
  return (await api.client.list(events)).items.map(({ reason }) => reason)
}

/** Counts the time for which this process is kept from running: by how much a timer comes late. */
export function standstills() {
  const everyMs = 20
  let lastMs = performance.now()
  let lateMs = 0
  const look = (): void => {
    const nowMs = performance.now()
    lateMs += Math.max(0, nowMs - lastMs - everyMs)
    lastMs = nowMs
  }
  const timer = setInterval(look, everyMs)
  return {
    totalMs(): number {
      look()
      return lateMs
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
