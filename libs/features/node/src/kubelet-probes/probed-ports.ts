import type { Container, Handler, Pod } from '@kube-ovn/kube-api/core'

/** TCP ports of a Pod that the kubelet connects to: for probes, and for hooks of the life cycle. Without doubles, in order. */
export function probedPorts({ spec }: Pick<Pod, 'spec'>): readonly number[] {
  const ports = [...spec.containers, ...(spec.initContainers ?? [])].flatMap(portsOf)
  return [...new Set(ports)].sort((a, b) => a - b)
}

function portsOf(container: Container): readonly number[] {
  return handlersOf(container).flatMap(({ httpGet, tcpSocket, grpc }) =>
    [httpGet, tcpSocket, grpc].flatMap((target) => {
      // What has a host is asked there, wherever that is.
      if (target === undefined || (target.host ?? '') !== '') return []
      const port = portNumber(container, target.port)
      return port === undefined ? [] : [port]
    }),
  )
}

/** Whatever of a container lets the kubelet speak to it. */
export function handlersOf(container: Container): readonly Handler[] {
  const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container
  return [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].filter(
    (handler) => handler !== undefined,
  )
}

/** A text is the name of a port or, as the kubelet has it, a number after all. */
function portNumber({ ports = [] }: Container, port: number | string | undefined): number | undefined {
  const named = typeof port === 'string' ? ports.find(({ name }) => name === port)?.containerPort : undefined
  const number = named ?? Number(port)
  return Number.isInteger(number) && number >= 1 && number <= 65_535 ? number : undefined
}
