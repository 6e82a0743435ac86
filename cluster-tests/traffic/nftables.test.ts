/** Real traffic through kube-proxy in nftables mode. */
import { told } from "./told.ts"

told("nftables")
