/** Real traffic through kube-proxy in iptables mode. */
import { told } from "./told.ts"

told("iptables")
