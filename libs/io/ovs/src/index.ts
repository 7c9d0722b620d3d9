export { askDaemon, controlSocketOf, type DaemonQuestion } from './control-socket.ts'
export { DaemonRefusedError, DaemonUnreachableError } from './errors.ts'
