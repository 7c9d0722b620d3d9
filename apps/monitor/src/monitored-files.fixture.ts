/** Where the files of a node are that a monitor looks at. */
export interface MonitoredFiles {
  /** Sockets and process ids. */
  readonly run: string
  readonly data: string
  readonly logs: string
}

/** Flags of a monitor that serves its metrics at a free port and looks every second. */
export function flagsOf({ run, data, logs }: MonitoredFiles, timeoutSeconds: number): readonly string[] {
  return [
    ...['--metrics-port=0', `--ovs.timeout=${timeoutSeconds}`, '--ovs.poll-interval=1'],
    `--service.ovn.northd.file.pid.path=${run}/ovn-northd.pid`,
    `--service.ovn.northd.file.log.path=${logs}/northd.log`,
    ...[
      ['northbound', 'nb'],
      ['southbound', 'sb'],
    ].flatMap(([name, id]) => [
      `--database.${name}.socket.remote=unix:${run}/${id}.sock`,
      `--database.${name}.socket.control=unix:${run}/${id}.ctl`,
      `--database.${name}.file.data.path=${data}/${id}.db`,
      `--database.${name}.file.log.path=${logs}/${id}.log`,
    ]),
  ]
}
